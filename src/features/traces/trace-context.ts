/** The trace that a client's call belongs to: the headers `traceparent` and `tracestate` (W3C Trace Context). */
import type { HeaderReader } from "../../core/headers.ts";

export interface TraceParent {
  /** Id of the trace, 32 lower-case hexadecimal digits. */
  trace: string;
  /** Id of the client's span, 16 lower-case hexadecimal digits. */
  span: string;
  /** The client records its part of the trace. */
  sampled: boolean;
  /** `tracestate`, for the collector. */
  state?: string;
}

/** Version, trace, span, flags. A later version may append members, which weir does not know. */
const HEADER = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const ZEROS = /^0+$/;
const SAMPLED = 1;
/** A longer header is left out: https://www.w3.org/TR/trace-context/#tracestate-limits */
const MAX_STATE = 512;
const STATE = /^[\x20-\x7e]+$/;

/** @returns undefined without a valid `traceparent`: the call begins a trace of its own */
export function readTraceParent(headers: HeaderReader): TraceParent | undefined {
  const found = HEADER.exec(headers.get("traceparent")?.trim() ?? "");
  if (!found) return undefined;
  const [, version, trace = "", span = "", flags = "", more] = found;
  if (version === "ff" || (version === "00" && more !== undefined)) return undefined;
  if (ZEROS.test(trace) || ZEROS.test(span)) return undefined;
  const state = headers.get("tracestate")?.trim() ?? "";
  return {
    trace,
    span,
    sampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED,
    ...(state.length <= MAX_STATE && STATE.test(state) && { state }),
  };
}
