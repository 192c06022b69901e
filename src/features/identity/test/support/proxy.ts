/** One name for both listeners, as a proxy in front of weir makes it. */

/** Paths of the admin listener, as `.github/deploy/proxies.md` has them. */
const ADMIN = /^\/(auth|console|admin|device|scim)(\/|$)|^\/oauth\/authorize$/;

export function proxyOf() {
  let listeners = { admin: "", gateway: "" };
  const server = Bun.serve({
    ...{ port: 0, hostname: "127.0.0.1", idleTimeout: 60 },
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const target = (ADMIN.test(pathname) ? listeners.admin : listeners.gateway) + pathname + search;
      const headers = new Headers(request.headers);
      headers.delete("accept-encoding");
      const body = request.method === "GET" ? undefined : await request.arrayBuffer();
      return fetch(target, { method: request.method, headers, redirect: "manual", ...(body && { body }) });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    /** @param found addresses of the listeners */
    lead: (found: typeof listeners) => void (listeners = found),
    stop: () => server.stop(true),
  };
}
