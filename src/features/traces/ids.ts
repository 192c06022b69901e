/** Ids of traces and spans, from the ids of calls: the same call always has the same ids, and no call pays for them. */

/** `req_` and 24 characters of base64url: 6 bytes of time, 12 random ones. */
const ID = /^req_[A-Za-z0-9_-]{24}$/;
const TRACE_BYTES = 16;
const SPAN_DIGITS = 16;
const ZEROS = /^0+$/;
/** The last digits of a trace id are random: these many fit into a number exactly. */
const RANDOM_DIGITS = 13;

/** The trace that begins with a call. Calls that plugins ask are in the trace of the client's call. */
export function traceIdOf(call: string): string {
  const top = call.split(".", 1)[0]!;
  const bytes = ID.test(top)
    ? Buffer.from(top.slice(4), "base64url").subarray(-TRACE_BYTES)
    : new Bun.CryptoHasher("sha256").update(top).digest().subarray(0, TRACE_BYTES);
  return notZero(bytes.toString("hex"));
}

/** @param attempt its number, from 1; absent: the span of the call itself */
export function spanIdOf(call: string, attempt = 0): string {
  return notZero(Bun.hash(`${call} ${attempt}`).toString(16).padStart(SPAN_DIGITS, "0"));
}

/** Whether a trace is among a share of all. Every gateway decides the same. @param share 0 to 1 */
export function isSampled(trace: string, share: number): boolean {
  return Number.parseInt(trace.slice(-RANDOM_DIGITS), 16) < share * 16 ** RANDOM_DIGITS;
}

/** An id of zeros is invalid. */
function notZero(id: string): string {
  return ZEROS.test(id) ? `${id.slice(1)}1` : id;
}
