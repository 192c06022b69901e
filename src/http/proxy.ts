/** Sends requests through an HTTP proxy with the runtime's `fetch`, which supports CONNECT and authentication. */
import { HttpError } from "./error.ts";
import { type BodyRest, hasBody, type Transport } from "./types.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy for a URL from the environment, as curl reads it: `<scheme>_proxy`, else `all_proxy`, in lower or upper case,
 * unless `no_proxy` lists the host.
 * @returns the proxy's URL; undefined for a direct connection
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

/** @param list host names, which include their subdomains, each with an optional port; `*` matches every host */
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

/** A body that `fetch` reads as it sends it. */
async function* restOf(
  body: readonly Uint8Array[],
  rest: BodyRest,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield* body;
  // `fetch` may ask for the next piece before it has sent this one.
  for await (const piece of rest.bytes()) yield Uint8Array.from(piece);
}

/**
 * A transport over the runtime's `fetch`. It follows no redirects, because they would send the credential to another host.
 * `fetch` has no separate pools: for each origin only requests of the first pool reuse connections.
 */
export function createProxyTransport(env: Environment): Transport {
  const owners = new Map<string, string>();
  return async ({ method = "POST", url, headers, body, rest, stop, pool = "", fresh, tls }) => {
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
        method,
        headers,
        ...(hasBody(method) && { body: rest ? restOf(body, rest) : Buffer.concat(body) }),
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
