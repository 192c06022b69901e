/** The transport of the gateway: weir's own HTTP client, and the runtime's `fetch` for requests through a proxy. */
import { HttpClient, type HttpClientOptions } from "./client.ts";
import { createProxyTransport, proxyFor } from "./proxy.ts";
import type { Transport } from "./types.ts";

export { describeReason, HttpError, reasonOf } from "./error.ts";
export type { Phase, Reason } from "./error.ts";
export { proxyFor } from "./proxy.ts";
export { nextPiece, takeFrom } from "./body.ts";
export type * from "./types.ts";

const PROXY_VARIABLE = /^(https?|all)_proxy$/i;

/** @param env environment of the process; its proxy variables select the requests that go through a proxy */
export function createTransport(
  env: Readonly<Record<string, string | undefined>>,
  options?: HttpClientOptions,
): Transport {
  const own = new HttpClient(options).request;
  if (!Object.keys(env).some((name) => PROXY_VARIABLE.test(name) && env[name])) return own;
  const proxied = createProxyTransport(env);
  return (request) => (proxyFor(request.url, env) ? proxied : own)(request);
}
