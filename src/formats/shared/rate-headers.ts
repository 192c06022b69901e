/** Rate limits in response headers, as the SDKs of the two vendors read them. */
import type { RateFigure, RateHeaders, RateKind } from "../../core/limit-figures.ts";

/** `x-ratelimit-remaining-requests: 59`, `x-ratelimit-reset-requests: 1.2s` (OpenAI's API reference, "Rate limits in headers"). */
export const DURATION_RATE_HEADERS: RateHeaders = {
  prefix: "x-ratelimit-",
  write: (rates) =>
    written(rates, ["requests", "tokens"], (kind, { limit, remaining, resetMs }) => ({
      [`x-ratelimit-limit-${kind}`]: String(limit),
      [`x-ratelimit-remaining-${kind}`]: String(remaining),
      [`x-ratelimit-reset-${kind}`]: writeDuration(resetMs),
    })),
};

/** `anthropic-ratelimit-tokens-reset: 2026-11-22T05:30:00Z` (Anthropic's documentation of rate limits, "Response headers"). */
export const TIME_RATE_HEADERS: RateHeaders = {
  prefix: "anthropic-ratelimit-",
  write: (rates) =>
    written(
      rates,
      ["requests", "tokens", "input-tokens", "output-tokens"],
      (kind, { limit, remaining, resetMs }) => ({
        [`anthropic-ratelimit-${kind}-limit`]: String(limit),
        [`anthropic-ratelimit-${kind}-remaining`]: String(remaining),
        [`anthropic-ratelimit-${kind}-reset`]: writeTime(Date.now() + resetMs),
      }),
    ),
};

function written(
  rates: Parameters<RateHeaders["write"]>[0],
  kinds: readonly RateKind[],
  write: (kind: RateKind, figure: RateFigure) => Record<string, string>,
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const kind of kinds) {
    const figure = rates[kind];
    if (figure) Object.assign(headers, write(kind, figure));
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
