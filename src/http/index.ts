/** The transport of the gateway: its own client, and the runtime's `fetch` where a proxy stands in between. */
import { HttpClient, type HttpClientOptions } from "./client.ts";
import type { Transport } from "./types.ts";

export { HttpError } from "./error.ts";
export type * from "./types.ts";

/** Over the runtime's `fetch`. Redirects are not followed; the gateway keeps its own clocks (runtime findings 7 and 9). */
const fetchTransport: Transport = ({ url, headers, body, stop }) => {
  const controller = new AbortController();
  if (stop.aborted) controller.abort(stop.reason);
  stop.addEventListener("abort", () => controller.abort(stop.reason));
  return fetch(url, {
    method: "POST",
    headers,
    body: Buffer.concat(body),
    redirect: "manual",
    signal: controller.signal,
    timeout: false,
  } as RequestInit);
};

/** A proxy speaks CONNECT, authentication and exceptions; `fetch` knows them all. @param env of the process */
export function createTransport(
  env: Readonly<Record<string, string | undefined>>,
  options?: HttpClientOptions,
): Transport {
  const proxied = (scheme: "http" | "https") =>
    Boolean(env[`${scheme}_proxy`] ?? env[`${scheme.toUpperCase()}_PROXY`]);
  const viaProxy = { "http:": proxied("http"), "https:": proxied("https") };
  const own = new HttpClient(options).request;
  if (!viaProxy["http:"] && !viaProxy["https:"]) return own;
  return (request) => {
    const secure = request.url.startsWith("https:");
    return (viaProxy[secure ? "https:" : "http:"] ? fetchTransport : own)(request);
  };
}
