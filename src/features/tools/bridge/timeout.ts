/** The longest time of a request at a server. */
import { CODE, McpError } from "../wire/messages.ts";
import type { Exchange } from "./exchange.ts";

/**
 * Does work for a request that stops when the client leaves or the time is over.
 * @param ms time @throws McpError 1003 when it is over, and what the work throws
 */
export async function inTime<Value>(
  exchange: Exchange,
  server: string,
  ms: number,
  work: (limited: Exchange) => Promise<Value>,
): Promise<Value> {
  const stopping = new AbortController();
  let late: McpError | undefined;
  const timer = setTimeout(() => {
    late = new McpError(CODE.timeout, `server ${server} did not answer within ${ms / 1000} s`, {
      data: { server },
    });
    stopping.abort(late);
  }, ms);
  const left = () => stopping.abort(exchange.stop.reason);
  if (exchange.stop.aborted) left();
  exchange.stop.addEventListener("abort", left, { once: true });
  try {
    return await work({
      ...{ caller: exchange.caller, era: exchange.era, client: exchange.client, params: exchange.params },
      ...(exchange.session !== undefined && { session: exchange.session }),
      stop: stopping.signal,
      notify: (method, params) => exchange.notify(method, params),
      ask: (method, params) => exchange.ask(method, params),
      ...(exchange.sample && { sample: (params, stop) => exchange.sample!(params, stop) }),
      ready: () => exchange.ready?.(),
      primed: (retryMs) => exchange.primed?.(retryMs),
      paused: () => exchange.paused?.(),
    });
  } catch (thrown) {
    throw late ?? thrown;
  } finally {
    clearTimeout(timer);
    exchange.stop.removeEventListener("abort", left);
  }
}
