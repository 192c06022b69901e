/** Requests through an HTTP proxy, which the runtime's `fetch` can speak to (CONNECT, authentication). */
import { HttpError } from "./error.ts";
import type { Transport } from "./types.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy that the environment names for a URL, as curl reads it: `<scheme>_proxy`, else `all_proxy`, in lower or upper
 * case, unless `no_proxy` lists the host.
 * @returns its URL; nothing when the request goes out directly
 */
export function proxyFor(url: string, env: Environment): string | undefined {
  const { protocol, hostname, port } = new URL(url);
  const proxy = variable(env, `${protocol.slice(0, -1)}_proxy`) ?? variable(env, "all_proxy");
  if (proxy === undefined || isExempt(hostname, port, variable(env, "no_proxy") ?? "")) return undefined;
  return proxy.includes("://") ? proxy : `http://${proxy}`;
}

function variable(env: Environment, name: string): string | undefined {
  return env[name] || env[name.toUpperCase()] || undefined;
}

/** @param list of host names, with their subdomains, each with or without a port; `*` is every host */
function isExempt(hostname: string, port: string, list: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "").toLowerCase();
  return list.split(/[\s,]+/).some((entry) => {
    if (entry === "*") return true;
    const [, name = "", only] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(entry.toLowerCase())!;
    if (name === "" || (only !== undefined && only !== port)) return false;
    const suffix = name.replace(/^\*?\./, "");
    return host === suffix || host.endsWith(`.${suffix}`);
  });
}

/**
 * Over the runtime's `fetch`. Redirects are not followed, because they would carry the credential to another host. Its
 * connections have no pools: of each origin only the requests of the pool that came first reuse connections.
 */
export function createProxyTransport(env: Environment): Transport {
  const owners = new Map<string, string>();
  return async ({ url, headers, body, stop, pool = "", fresh, tls }) => {
    const proxy = proxyFor(url, env)!;
    if (!/^https?:/.test(proxy))
      throw new HttpError("ERR_PROXY", "Only http and https proxies are supported.", "connect");
    const { origin } = new URL(url);
    if (!owners.has(origin)) owners.set(origin, pool);
    const controller = new AbortController();
    if (stop.aborted) controller.abort(stop.reason);
    stop.addEventListener("abort", () => controller.abort(stop.reason));
    try {
      return await fetch(url, {
        method: "POST",
        headers,
        body: Buffer.concat(body),
        redirect: "manual",
        signal: controller.signal,
        timeout: false,
        proxy,
        keepalive: owners.get(origin) === pool && !fresh,
        ...(tls && { tls }),
      } as RequestInit);
    } catch (cause) {
      throw stop.aborted ? stop.reason : HttpError.from(cause, "sent");
    }
  };
}
