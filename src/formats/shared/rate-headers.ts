/** Rate limits in response headers, as the SDKs of the two vendors read them. */
import type { RateHeaders, RateKind } from "../../core/limit-figures.ts";

/** The names of the three headers of a kind. */
interface HeaderNames {
  kind: RateKind;
  limit: string;
  remaining: string;
  reset: string;
}

const DURATION_NAMES = namesOf(["requests", "tokens"], (kind, part) => `x-ratelimit-${part}-${kind}`);

/** `x-ratelimit-remaining-requests: 59`, `x-ratelimit-reset-requests: 1.2s` (OpenAI's API reference, "Rate limits in headers"). */
export const DURATION_RATE_HEADERS: RateHeaders = {
  prefix: "x-ratelimit-",
  write: (rates) => written(rates, DURATION_NAMES, writeDuration),
};

const TIME_NAMES = namesOf(
  ["requests", "tokens", "input-tokens", "output-tokens"],
  (kind, part) => `anthropic-ratelimit-${kind}-${part}`,
);

/** `anthropic-ratelimit-tokens-reset: 2026-11-22T05:30:00Z` (Anthropic's documentation of rate limits, "Response headers"). */
export const TIME_RATE_HEADERS: RateHeaders = {
  prefix: "anthropic-ratelimit-",
  write: (rates) => written(rates, TIME_NAMES, (resetMs) => writeTime(Date.now() + resetMs)),
};

function namesOf(kinds: readonly RateKind[], name: (kind: RateKind, part: string) => string): HeaderNames[] {
  return kinds.map((kind) => ({
    kind,
    limit: name(kind, "limit"),
    remaining: name(kind, "remaining"),
    reset: name(kind, "reset"),
  }));
}

function written(
  rates: Parameters<RateHeaders["write"]>[0],
  names: readonly HeaderNames[],
  writeReset: (resetMs: number) => string,
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { kind, limit, remaining, reset } of names) {
    const figure = rates[kind];
    if (!figure) continue;
    headers[limit] = String(figure.limit);
    headers[remaining] = String(figure.remaining);
    headers[reset] = writeReset(figure.resetMs);
  }
  return headers;
}

/** `6m0s`, `1.2s`, `20ms`. */
export function writeDuration(ms: number): string {
  if (ms < 1000) return `${Math.ceil(ms)}ms`;
  const seconds = Math.ceil(ms / 100) / 10;
  if (seconds < 60) return `${seconds}s`;
  const whole = Math.ceil(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  return `${hours > 0 ? `${hours}h` : ""}${minutes}m${whole % 60}s`;
}

/** RFC 3339 in whole seconds, rounded up. */
function writeTime(at: number): string {
  return new Date(Math.ceil(at / 1000) * 1000).toISOString().replace(".000Z", "Z");
}
