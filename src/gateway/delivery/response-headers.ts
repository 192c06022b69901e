/** The `x-weir-*` response headers. */
import type { Attempt, Call } from "../../core/call.ts";
import type { LimitFigures, RateHeaders } from "../../core/limit-figures.ts";
import { nameInHeader } from "../../core/name.ts";
import { WARNINGS, writeLosses } from "../../core/loss-list.ts";
import type { Target } from "../../core/provider.ts";

export const STREAM_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
};

const LANE = "x-weir-lane";
const JSON_HEADERS = { "content-type": "application/json" };

type HeaderRecord = Readonly<Record<string, string>>;
type ConstantHeaders = Readonly<Record<"json" | "stream", HeaderRecord>>;

/** The headers of an answer without a target. */
const WITHOUT_TARGET: ConstantHeaders = {
  json: Object.freeze(JSON_HEADERS),
  stream: Object.freeze(STREAM_HEADERS),
};
const byTarget = new WeakMap<Target, ConstantHeaders>();

/** The headers that all answers of a kind from a target have: one frozen object for all of them. */
export function constantHeaders(kind: "json" | "stream", target?: Target): HeaderRecord {
  if (!target) return WITHOUT_TARGET[kind];
  let known = byTarget.get(target);
  if (!known) byTarget.set(target, (known = constantHeadersOf(target)));
  return known[kind];
}

function constantHeadersOf({ provider, deployment, model, lane }: Target): ConstantHeaders {
  const headers = {
    "x-weir-provider": provider.name,
    ...(deployment.name !== provider.name && { "x-weir-deployment": deployment.name }),
    "x-weir-model": printable(model),
    [LANE]: lane,
  };
  return {
    json: Object.freeze({ ...JSON_HEADERS, ...headers }),
    stream: Object.freeze({ ...STREAM_HEADERS, ...headers }),
  };
}

/** Adds the headers that say what happened to a call, from what is known before its first byte. */
export function withCallHeaders(headers: HeaderRecord, call: Call): HeaderRecord {
  const { attempt, attempts, skipped, extraHeaders } = call;
  const isRetried = attempts.some(({ failure }) => failure);
  const losses = attempt?.losses ?? [];
  const isOtherLane = attempt !== undefined && attempt.lane !== attempt.target.lane;
  if (skipped.length === 0 && !isRetried && !extraHeaders && losses.length === 0 && !isOtherLane)
    return headers;
  return {
    ...headers,
    ...(isOtherLane && { [LANE]: attempt.lane }),
    ...(skipped.length > 0 && { "x-weir-skipped": skipped.join(", ") }),
    ...(isRetried && {
      "x-weir-attempts": String(attempts.length),
      "x-weir-tried": writeTried(attempts),
    }),
    ...extraHeaders,
    ...(losses.length > 0 && { [WARNINGS]: writeLosses(losses) }),
  };
}

/**
 * Adds what the client may know of the limits and budgets that count its call. Where weir has rate limits of its own, those of
 * the provider get `x-weir-upstream-` in front of their names: the SDKs act upon the others.
 */
export function withLimits(
  headers: HeaderRecord,
  figures: LimitFigures,
  rateHeaders: RateHeaders | undefined,
): HeaderRecord {
  const apart = besideLimits(headers, figures, rateHeaders);
  return figures.forMany ? apart : { ...apart, ...limitHeaders(figures, rateHeaders) };
}

/** The constant headers of a call: where figures are for many calls, those of its limits are among them. */
export function constantWithLimits(
  constant: HeaderRecord,
  figures: LimitFigures,
  rateHeaders: RateHeaders | undefined,
): HeaderRecord {
  if (!figures.forMany) return constant;
  let made = byFigures.get(figures);
  if (!made) byFigures.set(figures, (made = []));
  let one = made.find((each) => each.constant === constant && each.rateHeaders === rateHeaders);
  if (!one) {
    const headers = Object.freeze({ ...constant, ...limitHeaders(figures, rateHeaders) });
    made.push((one = { constant, rateHeaders, headers }));
  }
  return one.headers;
}

/** Headers that were made of figures: one set for each target and each client format. */
const byFigures = new WeakMap<
  LimitFigures,
  { constant: HeaderRecord; rateHeaders: RateHeaders | undefined; headers: HeaderRecord }[]
>();

function hasRates({ rates }: LimitFigures): boolean {
  for (const _ in rates) return true;
  return false;
}

function besideLimits(
  headers: HeaderRecord,
  figures: LimitFigures,
  rateHeaders: RateHeaders | undefined,
): HeaderRecord {
  return rateHeaders && hasRates(figures) ? withoutUpstream(headers, rateHeaders.prefix) : headers;
}

function limitHeaders(figures: LimitFigures, rateHeaders: RateHeaders | undefined): HeaderRecord {
  const { rates, budget } = figures;
  return {
    ...(rateHeaders && hasRates(figures) && rateHeaders.write(rates)),
    ...(budget && {
      "x-weir-budget": nameInHeader(budget.name),
      ...(budget.left !== undefined && { "x-weir-budget-left": budget.left }),
      ...(budget.resetsAt !== undefined && { "x-weir-budget-resets": isoText(budget.resetsAt) }),
    }),
  };
}

/** The end of a window, which is the same for many calls. */
let isoTime = 0;
let isoOfTime = new Date(0).toISOString();

function isoText(time: number): string {
  if (time !== isoTime) {
    isoOfTime = new Date(time).toISOString();
    isoTime = time;
  }
  return isoOfTime;
}

function withoutUpstream(headers: HeaderRecord, prefix: string): HeaderRecord {
  let hasAny = false;
  for (const name in headers) hasAny ||= name.startsWith(prefix);
  if (!hasAny) return headers;
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name.startsWith(prefix) ? `x-weir-upstream-${name.replace(/^x-/, "")}` : name,
      value,
    ]),
  );
}

/** The attempts that failed: `openai/eu:503:120ms, groq:refused:3ms`. */
export function writeTried(attempts: readonly Attempt[]): string {
  return attempts
    .flatMap(({ target, failure }) =>
      failure ? [`${target.deployment.name}:${failure.what}:${failure.ms}ms`] : [],
    )
    .join(", ");
}

/** Header values must be visible ASCII; model names may contain any character. */
function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?");
}
