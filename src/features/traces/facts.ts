/** Facts for the spans of a call, collected at its end. */
import type { Attempt, Call } from "../../core/call.ts";
import { readTraceParent } from "./trace-context.ts";
import { Booking } from "../../ledger/worker/booking.ts";
import type { TraceContext } from "../../core/trace-context.ts";
import type { AttemptFacts, TraceFacts } from "./columns.ts";
import { isSampled, spanIdOf, traceIdOf } from "./ids.ts";
import type { TraceSettings } from "./section.ts";

/** The context for who works for the running attempt of a call: the spans are below its own. */
export function contextOf(
  call: Call,
  { share, parent: mode }: Pick<TraceSettings, "share" | "parent">,
): TraceContext | undefined {
  const parent = mode === "respect" ? readTraceParent(topOf(call).headers) : undefined;
  const trace = parent?.trace ?? traceIdOf(call.id);
  if (!(parent ? parent.sampled : isSampled(trace, share))) return undefined;
  return {
    traceparent: `00-${trace}-${spanIdOf(call.id, call.attempts.length)}-01`,
    ...(parent?.state && { tracestate: parent.state }),
  };
}

function topOf(call: Call): Call {
  let top = call;
  while (top.parent) top = top.parent;
  return top;
}

/** @param attempts those that the record has */
export function factsOf(call: Call, attempts: readonly Attempt[]): TraceFacts {
  return {
    parent: readTraceParent(topOf(call).headers),
    within: call.parent?.id,
    route: call.route,
    attempts: attempts.map((attempt) => attemptFactsOf(attempt, call.startedAt)),
  };
}

function attemptFactsOf(attempt: Attempt, startedAt: number): AttemptFacts {
  const { request, booking, target, firstByteAt, failure, upstreamStatus } = attempt;
  const size = booking instanceof Booking ? booking.size : undefined;
  return {
    at: tenths(attempt.startedAt - startedAt),
    firstAt: firstByteAt === undefined ? undefined : tenths(firstByteAt - startedAt),
    status: upstreamStatus,
    what: failure?.what,
    ...placeOf(target.deployment.baseUrl),
    maxTokens: request?.maxTokens ?? size?.maxTokens,
    temperature: request?.temperature,
    choices: size?.choices,
  };
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

type Place = Pick<AttemptFacts, "host" | "port">;

/** The places of base URLs, which are few. */
const places = new Map<string, Place>();
const MAX_PLACES = 1_000;

function placeOf(baseUrl: string): Place {
  let place = places.get(baseUrl);
  if (!place) {
    const url = URL.parse(baseUrl);
    place = url ? { host: url.hostname, port: Number(url.port) || DEFAULT_PORTS[url.protocol] } : {};
    if (places.size < MAX_PLACES) places.set(baseUrl, place);
  }
  return place;
}

function tenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}
