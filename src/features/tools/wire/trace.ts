/** The trace of a call (W3C Trace Context): clients and servers have it in `_meta`. */
import type { JsonObject } from "../../../core/json.ts";
import type { TraceContext } from "../../../core/trace-context.ts";
import { metaOf, withMeta } from "./revisions.ts";

const MEMBERS = ["traceparent", "tracestate"] as const;
/** A longer value is none. Characters. */
const MOST = 512;
const PRINTABLE = /^[\x20-\x7e]+$/;

/** The trace of a client's call as headers: that of the message, else that of the request over HTTP. */
export function traceOf(params: JsonObject, headers: Headers): Headers {
  const meta = metaOf(params);
  const isInMessage = meta["traceparent"] !== undefined;
  const found = new Headers();
  for (const name of MEMBERS) {
    const value = isInMessage ? meta[name] : headers.get(name);
    if (typeof value === "string" && value.length <= MOST && PRINTABLE.test(value)) found.set(name, value);
  }
  return found;
}

/** The parameters of a call for a server whose spans are below the one of weir. @param trace undefined: as the client sent them */
export function inTrace(params: JsonObject, trace: TraceContext | undefined): JsonObject {
  if (!trace) return params;
  const { traceparent, tracestate } = trace;
  return withMeta(params, { traceparent, tracestate });
}
