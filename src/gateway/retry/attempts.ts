/**
 * The attempts of one call: tries one target after another until one begins to answer, within the call's deadline and the
 * retry budget. After the first byte has reached the client, weir does not retry.
 */
import type { Attempt, Call } from "../../core/call.ts";
import { GatewayError } from "../../core/error.ts";
import type { Target } from "../../core/provider.ts";
import { pause } from "./backoff.ts";
import { remainingMs } from "../delivery/deadline.ts";
import type { Opened, OpenedJson } from "../lanes/lane.ts";
import type { Gateway } from "../types.ts";
import type { Failure } from "./failure.ts";
import { readFailure } from "./failure.ts";
import type { RetrySlot } from "./retry-budget.ts";
import { PassedRefusal } from "../lanes/passed-error.ts";
import type { Plan } from "../routing/plan.ts";
import { onlyChoice } from "../routing/plan.ts";
import type { Health } from "./health.ts";
import { RetryPlan } from "./retry-plan.ts";

/** The vendors' SDKs count their own retries in this header, starting at 0. */
const SDK_RETRIES = "x-stainless-retry-count";

/** What is attempted. */
export interface Attempted {
  readonly call: Call;
  readonly plan: Plan;
  /** Identifies the conversation; empty if nothing does. */
  affinity(): string;
  /** One attempt. @returns the answer, which has begun @throws the failure of the attempt */
  open(attempt: Attempt): Promise<Opened>;
}

/**
 * A model with one deployment and no fallback needs no plan until its first attempt has failed.
 * @throws GatewayError when the last permitted attempt has failed
 */
export async function attempt(attempted: Attempted, gateway: Gateway): Promise<Opened> {
  const { call, plan } = attempted;
  const only = onlyChoice(plan);
  if (!only) return attemptByPlan(attempted, gateway);
  const running = begin(only.target, 0, call, gateway.health);
  try {
    const opened = await attempted.open(running);
    gateway.health.answered(running);
    return opened;
  } catch (thrown) {
    return attemptByPlan(attempted, gateway, fail(thrown, running, gateway.health));
  }
}

/** @param failure of the plan's first attempt, if that was made */
async function attemptByPlan(attempted: Attempted, gateway: Gateway, failure?: Failure): Promise<Opened> {
  const { call, plan } = attempted;
  const { health } = gateway;
  const retryPlan = new RetryPlan({
    plan,
    affinity: () => attempted.affinity(),
    outlook: (target, now) => health.outlook(target, now),
    retries: gateway.retries,
    clientRetries: call.headers.has(SDK_RETRIES),
  });
  let step = retryPlan.first(performance.now());
  call.skipped = retryPlan.skipped;
  let slot: RetrySlot | undefined;
  try {
    for (;;) {
      if (failure) {
        const next = call.abortReason
          ? undefined
          : retryPlan.next(failure, performance.now(), remainingMs(call, gateway));
        const needsSlot = addsLoad(failure);
        if (next && needsSlot) slot ??= health.budget.take(next.wait);
        if (!next || (needsSlot && !slot)) return conclude(failure, call);
        step = next;
        if (step.wait > 0) await pause(step.wait, call.stop);
        if (call.abortReason) throw call.abortReason;
      }
      const running = begin(step.target, step.wait, call, health);
      try {
        const opened = await attempted.open(running);
        health.answered(running);
        return opened;
      } catch (thrown) {
        failure = fail(thrown, running, health);
      }
    }
  } finally {
    if (slot) health.budget.release(slot);
  }
}

/** @throws GatewayError if the deployment has reached its concurrency limit */
function begin(target: Target, wait: number, call: Call, health: Health): Attempt {
  if (health.isFull(target)) throw noCapacity(target);
  const running = call.begin(target, wait);
  health.begin(call, running);
  return running;
}

function fail(thrown: unknown, running: Attempt, health: Health): Failure {
  const failure = readFailure(thrown, running);
  recordFailure(failure, running);
  health.failed(running, failure);
  return failure;
}

/**
 * Whether a retry adds load to a provider that may fail under it. A request that was not sent reached no provider. A kept
 * connection that closes is no sign of load: a provider that restarts closes all of them at once, and a call is repeated for
 * that only once.
 */
function addsLoad(failure: Failure): boolean {
  return failure.class !== "not-sent" && !failure.stale;
}

/** All deployments are at their concurrency limit. */
function noCapacity({ deployment }: Target): GatewayError {
  const { name, concurrency } = deployment;
  return new GatewayError(
    "overloaded",
    `${name} has reached its concurrency limit (${concurrency}); retry in 1 s.`,
    { code: "no_capacity", retryAfter: 1 },
  );
}

function recordFailure(failure: Failure, running: Attempt): void {
  const ms = Math.round(performance.now() - running.startedAt);
  running.failure = { class: failure.class, what: failure.what, ms };
}

/**
 * The client's answer after the last attempt: the last failure, in the provider's own bytes if it uses the client's format.
 * @throws GatewayError for any other failure
 */
function conclude(failure: Failure, call: Call): OpenedJson {
  const { error } = failure;
  const retried = failure.class !== "never" && wasRetried(call);
  if (!(error instanceof PassedRefusal))
    throw retried ? error.with({ shouldRetry: shouldRetry(error) }) : error;
  return {
    kind: "json",
    status: error.passedStatus,
    headers: {
      ...error.passedHeaders,
      ...(retried && retryHeaders(error)),
      "content-type": "application/json",
    },
    body: error.body,
    error,
  };
}

/** Whether weir has retried and a provider may have received the request. */
function wasRetried({ attempts }: Call): boolean {
  return attempts.length > 1 && attempts.some(({ failure }) => failure?.class !== "not-sent");
}

/**
 * Either weir retries or the client does, never both: after failed retries, weir tells the SDK not to retry. If the provider
 * named a time in `retry-after`, weir passes that on instead, and the SDK may retry then.
 */
function shouldRetry({ retryAfter }: GatewayError): boolean | undefined {
  return retryAfter === undefined ? false : undefined;
}

function retryHeaders(error: PassedRefusal): Record<string, string> {
  if (error.retryAfter === undefined) return { "x-should-retry": "false" };
  const isPassed = "retry-after" in error.passedHeaders || "retry-after-ms" in error.passedHeaders;
  return isPassed ? {} : { "retry-after": String(Math.ceil(error.retryAfter)) };
}
