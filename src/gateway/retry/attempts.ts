/**
 * The attempts of one call: tries one target after another until one begins to answer, within the call's deadline and the
 * retry budget. After the first byte has reached the client, weir does not retry.
 */
import { Attempt, type Call } from "../../core/call.ts";
import { GatewayError } from "../../core/error.ts";
import type { Retries } from "../../core/failure-policy.ts";
import { mergeRetries } from "../../core/merge-policies.ts";
import type { Admitted } from "../../core/ledger.ts";
import { LedgerRefusal } from "../../core/refusal.ts";
import type { Target } from "../../core/provider.ts";
import { pause } from "./backoff.ts";
import { isCarried } from "../lanes/carried.ts";
import { type Carrier, carriedBy, carrierOf } from "../lanes/carrier.ts";
import { remainingMs } from "../delivery/deadline.ts";
import type { Opened, OpenedJson, OpenedReceiver } from "../lanes/lane.ts";
import type { Gateway } from "../types.ts";
import type { Failure } from "./failure.ts";
import { isRefusal, readFailure, readRefusal } from "./failure.ts";
import type { RetrySlot } from "./limits.ts";
import { PassedRefusal } from "../lanes/passed-error.ts";
import { opened, tell } from "../lanes/receive.ts";
import type { Plan } from "../routing/plan.ts";
import { isRanked, onlyChoice } from "../routing/plan.ts";
import { RetryPlan, type Step } from "./retry-plan.ts";
import { saidOf } from "./said.ts";

/** The vendors' SDKs count their own retries in this header, starting at 0. */
const SDK_RETRIES = "x-stainless-retry-count";

/** The subject of the attempts. */
export interface Attempted extends Admitted {
  readonly call: Call;
  readonly plan: Plan;
  /**
   * The same with another model, which answers because a budget of the model that was asked for is exhausted. Absent where
   * another model cannot stand in.
   */
  substitute?: (model: string) => Promise<Attempted | undefined>;
  /** An attempt that may have reached the provider is not repeated. */
  readonly repeatsUnsentOnly?: boolean;
  /** One attempt. The receiver gets the answer, which has begun, or the failure of the attempt. */
  open(attempt: Attempt, receiver: OpenedReceiver): void;
}

/** The same as {@link attemptTo}. @throws GatewayError when the last permitted attempt has failed */
export function attempt(attempted: Attempted, gateway: Gateway): Promise<Opened> {
  return opened((receiver) => attemptTo(attempted, gateway, receiver));
}

/** A model with one deployment and no fallback needs no plan until its first attempt has failed. */
export function attemptTo(attempted: Attempted, gateway: Gateway, receiver: OpenedReceiver): void {
  const carrier = carrierOf.get(attempted.call);
  const carried = carrier?.takes(attempted.plan, attempted.call);
  if (carrier && carried) return tell(attemptCarried(attempted, carried, carrier, gateway), receiver);
  const only = onlyChoice(attempted.plan);
  if (!only) return tell(attemptByPlan(attempted, gateway), receiver);
  const first = new FirstAttempt(attempted, gateway, receiver);
  let begun: Begun | Promise<Begun>;
  try {
    begun = begin({ target: only.target, wait: 0 }, attempted, gateway);
  } catch (thrown) {
    return receiver.failed(thrown);
  }
  if (!(begun instanceof Promise)) return first.begun(begun);
  begun.then(
    (later) => first.begun(later),
    (thrown: unknown) => receiver.failed(thrown),
  );
}

/** The attempt at the only deployment. If it fails, the plan goes on behind it. */
class FirstAttempt implements OpenedReceiver {
  readonly #attempted: Attempted;
  readonly #gateway: Gateway;
  readonly #receiver: OpenedReceiver;
  #running: Attempt | undefined;

  constructor(attempted: Attempted, gateway: Gateway, receiver: OpenedReceiver) {
    this.#attempted = attempted;
    this.#gateway = gateway;
    this.#receiver = receiver;
  }

  begun(begun: Begun): void {
    if (!(begun instanceof Attempt))
      return tell(attemptByPlan(this.#attempted, this.#gateway, begun), this.#receiver);
    this.#running = begun;
    this.#attempted.open(begun, this);
  }

  opened(opened: Opened): void {
    this.#gateway.health.answered(this.#running!);
    this.#receiver.opened(opened);
  }

  failed(thrown: unknown): void {
    tell(this.#again(thrown), this.#receiver);
  }

  async #again(thrown: unknown): Promise<Opened> {
    return attemptByPlan(
      this.#attempted,
      this.#gateway,
      fail(thrown, this.#running!, this.#attempted, this.#gateway),
    );
  }
}

/** The only attempt of a call that a carrier takes. It says nothing about the health of the deployment. */
async function attemptCarried(
  attempted: Attempted,
  target: Target,
  carrier: Carrier,
  gateway: Gateway,
): Promise<Opened> {
  const { call } = attempted;
  const running = new Attempt(call, target);
  carriedBy.set(running, carrier);
  isCarried.set(running, true);
  try {
    await gateway.ledger.admit(running, attempted);
  } catch (thrown) {
    return conclude(leave(thrown, call), call);
  }
  call.attempts.push(running);
  try {
    return await opened((receiver) => attempted.open(running, receiver));
  } catch (thrown) {
    const failure = readFailure(thrown, running);
    recordFailure(failure, running);
    gateway.ledger.settle(running);
    return conclude(failure, call);
  }
}

/** @param failure of the plan's first attempt, if that was made */
async function attemptByPlan(attempted: Attempted, gateway: Gateway, failure?: Failure): Promise<Opened> {
  const { call, plan } = attempted;
  const { health } = gateway;
  const retryPlan = new RetryPlan({
    plan,
    affinity: () => attempted.affinity(),
    ...(isRanked(plan) && { standing: health.standings.of(call, gateway.priceOf) }),
    outlook: (target, now) => health.outlook(target, now, call),
    retries: attempted.repeatsUnsentOnly
      ? { ...retriesOf(call.model, gateway), maybeSent: false }
      : retriesOf(call.model, gateway),
    clientRetries: call.headers.has(SDK_RETRIES),
  });
  let step = retryPlan.first(performance.now());
  call.skipped = retryPlan.skipped;
  /** The client's answer if no further attempt is made: a provider's failure rather than a refusal of its alternative. */
  let reported: Failure | undefined;
  let slot: RetrySlot | undefined;
  try {
    for (;;) {
      if (failure) {
        reported = reported && isRefusal(failure) ? reported : failure;
        const next = call.abortReason
          ? undefined
          : retryPlan.next(failure, performance.now(), remainingMs(call, gateway));
        const needsSlot = addsLoad(failure);
        if (next && needsSlot) slot ??= health.budget.take(next.wait);
        if (!next || (needsSlot && !slot)) break;
        step = next;
        if (step.wait > 0) await pause(step.wait, call.stop);
        if (call.abortReason) throw call.abortReason;
      }
      const running = await begin(step, attempted, gateway);
      if (!(running instanceof Attempt)) {
        failure = running;
        continue;
      }
      try {
        const answer = await opened((receiver) => attempted.open(running, receiver));
        health.answered(running);
        return answer;
      } catch (thrown) {
        failure = fail(thrown, running, attempted, gateway);
      }
    }
  } finally {
    if (slot) health.budget.release(slot);
  }
  if (!isRefusal(reported)) call.refused = undefined;
  const { error } = reported;
  const use = error instanceof LedgerRefusal && !call.abortReason ? error.use : undefined;
  const substitute = use === undefined ? undefined : await attempted.substitute?.(use);
  if (!substitute) return conclude(reported, call);
  return attempt(substitute, gateway);
}

/** The retries of calls for a model. */
export function retriesOf(
  model: string,
  { registry, retries }: Pick<Gateway, "registry" | "retries">,
): Retries {
  return mergeRetries(retries, registry.settingsOf(model)?.retries);
}

type Begun = Attempt | Failure;

/**
 * Begins an attempt, unless a rule of the gateway refuses its target. At once if the ledger need not ask.
 * @throws GatewayError if the deployment has reached its concurrency limit
 */
function begin(step: Step, attempted: Attempted, gateway: Gateway): Begun | Promise<Begun> {
  const { call } = attempted;
  if (gateway.health.isFull(step.target, call)) throw noCapacity(step.target);
  const running = new Attempt(call, step.target, step.wait);
  try {
    const admitting = gateway.ledger.admit(running, attempted);
    if (admitting)
      return admitting.then(
        () => enter(running, gateway),
        (thrown) => leave(thrown, call),
      );
  } catch (thrown) {
    return leave(thrown, call);
  }
  return enter(running, gateway);
}

function enter(running: Attempt, { health }: Gateway): Attempt {
  running.call.attempts.push(running);
  health.begin(running.call, running);
  return running;
}

/** Nothing was sent, so there was no attempt. */
function leave(thrown: unknown, call: Call): Failure {
  call.attempt = call.attempts.at(-1);
  if (thrown instanceof LedgerRefusal) return readRefusal(thrown);
  throw thrown;
}

function fail(
  thrown: unknown,
  running: Attempt,
  { repeatsUnsentOnly }: Attempted,
  { health, ledger }: Gateway,
): Failure {
  const failure = readFailure(thrown, running);
  // The provider has answered and will be paid, although the answer is none that weir can use.
  const { upstreamStatus = 0 } = running;
  if (repeatsUnsentOnly && upstreamStatus >= 200 && upstreamStatus < 300) failure.class = "never";
  recordFailure(failure, running);
  health.failed(running, failure);
  ledger.settle(running);
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
  running.said = saidOf(failure.error, running);
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
