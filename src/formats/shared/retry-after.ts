/** Reads how long a provider wants weir to wait before a retry, in all the forms that vendors use. */
import type { HeaderReader } from "../../core/headers.ts";
import type { Json } from "../../core/json.ts";
import { isObject } from "../../core/json.ts";

/** Seconds to wait; `undefined` if the answer does not say. @param now milliseconds of the Unix epoch */
export function readRetryAfter(
  headers: HeaderReader,
  body: Json | undefined,
  now = Date.now(),
): number | undefined {
  return (
    millisecondsOf(headers.get("retry-after-ms")) ??
    secondsOf(headers.get("retry-after"), now) ??
    retryDelay(body) ??
    limitReset(headers, now) ??
    anthropicReset(headers, now) ??
    retryWording(body)
  );
}

/** Azure sends `retry-after-ms: 0` together with a meaningful `retry-after`, so zero is ignored. */
function millisecondsOf(text: string | null): number | undefined {
  const value = text === null || text.trim() === "" ? Number.NaN : Number(text);
  return value > 0 ? value / 1000 : undefined;
}

/** Larger numbers are points in time: seconds or milliseconds of the Unix epoch. */
const EPOCH_SECONDS = 1e9;
const EPOCH_MILLISECONDS = 1e12;

/** A number of seconds, a duration (`6m0s`, `20ms`), or a point in time (HTTP date, RFC 3339, Unix epoch). */
function secondsOf(text: string | null, now: number): number | undefined {
  if (text === null || text.trim() === "") return undefined;
  const value = Number(text);
  if (Number.isFinite(value)) return value < 0 ? undefined : fromNumber(value, now);
  const span = spanOf(text.trim());
  if (span !== undefined) return span;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, (at - now) / 1000);
}

function fromNumber(value: number, now: number): number {
  if (value >= EPOCH_MILLISECONDS) return Math.max(0, (value - now) / 1000);
  if (value >= EPOCH_SECONDS) return Math.max(0, value - now / 1000);
  return value;
}

const UNITS: Record<string, number> = { d: 86_400, h: 3600, m: 60, s: 1, ms: 0.001 };

function spanOf(text: string): number | undefined {
  if (!/^(?:[\d.]+(?:ms|[dhms]))+$/.test(text)) return undefined;
  let seconds = 0;
  for (const [, amount, unit] of text.matchAll(/([\d.]+)(ms|[dhms])/g))
    seconds += Number(amount) * UNITS[unit!]!;
  return Number.isFinite(seconds) ? seconds : undefined;
}

/** Google's `RetryInfo` in the details of an error, which may be in a list: `"retryDelay": "3.5s"`. */
function retryDelay(body: Json | undefined): number | undefined {
  const outer = Array.isArray(body) ? body[0] : body;
  const error = isObject(outer) && isObject(outer.error) ? outer.error : undefined;
  for (const detail of Array.isArray(error?.details) ? error.details : [])
    if (isObject(detail) && typeof detail.retryDelay === "string") return spanOf(detail.retryDelay);
  return undefined;
}

/** The latest reset time of the exhausted limits: each of them refuses requests until its reset. */
function limitReset(headers: HeaderReader, now: number): number | undefined {
  let longest: number | undefined;
  headers.forEach((value, name) => {
    if (!name.startsWith("x-ratelimit-reset")) return;
    const left = headers.get(name.replace("reset", "remaining"));
    // Azure sends -1 for a limit that it does not count.
    if (left !== null && (Number(left) > 0 || Number(left) < 0)) return;
    const wait = secondsOf(value, now);
    if (wait !== undefined) longest = Math.max(longest ?? 0, wait);
  });
  return longest;
}

/** Anthropic's header names have the limit before the word: `anthropic-ratelimit-tokens-reset` (RFC 3339). */
function anthropicReset(headers: HeaderReader, now: number): number | undefined {
  let longest: number | undefined;
  for (const limit of ["requests", "tokens", "input-tokens", "output-tokens"]) {
    if (headers.get(`anthropic-ratelimit-${limit}-remaining`) !== "0") continue;
    const wait = secondsOf(headers.get(`anthropic-ratelimit-${limit}-reset`), now);
    if (wait !== undefined) longest = Math.max(longest ?? 0, wait);
  }
  return longest;
}

/** Vendors that state the delay only in the message: `Please try again in 6.2s`, `retry in 20 seconds`. */
function retryWording(body: Json | undefined): number | undefined {
  const text = body === undefined ? "" : JSON.stringify(body).slice(0, 4000);
  const match = /(?:try again|retry) in (?:(\d+)m)?(\d+(?:\.\d+)?)\s?(ms|s\b|sec)/i.exec(text);
  if (!match) return undefined;
  const amount = Number(match[2]) * (match[3] === "ms" ? 0.001 : 1);
  return Number(match[1] ?? 0) * 60 + amount;
}

/** The vendors' instruction to their SDKs: `x-should-retry`. */
export function readShouldRetry(headers: HeaderReader): boolean | undefined {
  const value = headers.get("x-should-retry");
  return value === "true" ? true : value === "false" ? false : undefined;
}
