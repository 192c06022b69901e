/**
 * The attempts of one call: tries one target after another until one begins to answer, within the deadline of the call and
 * the budget of all. From the first byte that reaches the client on there is nothing to repeat.
 */
import type { Attempt, Call } from "../../core/call.ts";
import { GatewayError } from "../../core/error.ts";
import type { Target } from "../../core/provider.ts";
import { affinityOf } from "./affinity.ts";
import { pause } from "./backoff.ts";
import { remainingMs } from "../delivery/deadline.ts";
import type { Answer, Gateway, Incoming } from "../types.ts";
import type { Failure } from "./failure.ts";
import { readFailure } from "./failure.ts";
import type { RetrySlot } from "./retry-budget.ts";
import { PassedRefusal } from "../lanes/passed-error.ts";
import { answerHeaders } from "../delivery/response-headers.ts";
import { RetryPlan } from "./retry-plan.ts";

/** In which the vendors' SDKs count their own repetitions, from 0 on. */
const SDK_RETRIES = "x-stainless-retry-count";

/** One attempt: the answer once it begins. @throws whatever made it fail */
export type Try = (incoming: Incoming, gateway: Gateway) => Promise<Answer>;

/** @throws GatewayError when all that may be tried has failed. */
export async function attempt(incoming: Incoming, gateway: Gateway, ask: Try): Promise<Answer> {
  const { call } = incoming;
  const { health, registry } = gateway;
  const walk = new RetryPlan({
    plan: registry.plan(call.model, incoming.format.id),
    affinity: () => affinityOf(incoming),
    outlook: (target, now) => health.outlook(target, now),
    retries: gateway.retries,
    clientRepeats: call.headers.has(SDK_RETRIES),
  });
  let step = walk.first(performance.now());
  call.skipped = walk.skipped;
  let place: RetrySlot | undefined;
  try {
    for (;;) {
      if (health.isFull(step.target)) throw full(step.target);
      const running = call.begin(step.target, step.wait);
      health.begin(call, running);
      try {
        const answer = await ask(incoming, gateway);
        health.answered(running);
        return answer;
      } catch (thrown) {
        const failure = readFailure(thrown, call);
        recordFailure(failure, running);
        health.failed(running, failure);
        const next = call.abortReason
          ? undefined
          : walk.next(failure, performance.now(), remainingMs(call, gateway));
        // What was not sent has cost no upstream anything, and its repetition costs no budget.
        if (next && failure.class !== "not-sent") place ??= health.budget.take(next.wait);
        if (!next || (failure.class !== "not-sent" && !place)) return conclude(failure, call, gateway);
        step = next;
      }
      if (step.wait > 0) await pause(step.wait, call.stop);
      if (call.abortReason) throw call.abortReason;
    }
  } finally {
    if (place) health.budget.give(place);
  }
}

/** Nobody has room. */
function full({ deployment }: Target): GatewayError {
  const { name, concurrency } = deployment;
  return new GatewayError(
    "overloaded",
    `${name} has as many calls in flight as it is given (${concurrency}); send the request again in a moment.`,
    { code: "no_capacity", retryAfter: 1 },
  );
}

function recordFailure(failure: Failure, running: Attempt): void {
  const ms = Math.round(performance.now() - running.startedAt);
  running.failure = { class: failure.class, what: failure.what, ms };
}

/** What the client gets when nothing is left to try: the last failure, as the upstream put it where it spoke its language. */
function conclude(failure: Failure, call: Call, gateway: Gateway): Answer {
  const { error } = failure;
  const spent = failure.class !== "never" && isSpent(call);
  if (!(error instanceof PassedRefusal))
    throw spent ? error.with({ shouldRetry: shouldRetry(error) }) : error;
  gateway.settler.failed(call, error, error.passedStatus);
  return {
    status: error.passedStatus,
    headers: {
      ...error.passedHeaders,
      ...answerHeaders(call),
      ...(spent && retryHeaders(error)),
      "content-type": "application/json",
    },
    body: error.body,
  };
}

/** Whether an upstream has seen the call more than once, or may have. */
function isSpent({ attempts }: Call): boolean {
  return attempts.length > 1 && attempts.some(({ failure }) => failure?.class !== "not-sent");
}

/**
 * Either the gateway repeats a call or its client does, never both: where it has done so in vain, SDKs are told not to
 * begin anew. Only a moment the upstream has named is passed on: then is the time to ask again.
 */
function shouldRetry({ retryAfter }: GatewayError): boolean | undefined {
  return retryAfter === undefined ? false : undefined;
}

function retryHeaders(error: PassedRefusal): Record<string, string> {
  if (error.retryAfter === undefined) return { "x-should-retry": "false" };
  const said = "retry-after" in error.passedHeaders || "retry-after-ms" in error.passedHeaders;
  return said ? {} : { "retry-after": String(Math.ceil(error.retryAfter)) };
}
