/** Makes what plugins see of a call. Views are created when a plugin first needs one. */
import type { Attempt, Call } from "../../core/call.ts";
import type { AttemptRecord, CallRecord, CallView, TargetView } from "../../core/call-view.ts";
import type { ChatRequest } from "../../core/chat.ts";
import { NO_USAGE } from "../../core/events.ts";
import type { HeaderReader } from "../../core/headers.ts";
import { withoutCredentials } from "../../core/client-headers.ts";
import type { LossCode } from "../../core/loss.ts";
import type { Target } from "../../core/provider.ts";
import type { Stoppable } from "../../core/stop.ts";

const views = new WeakMap<Attempt, CallView>();

/** The view of an attempt; the same object for all plugins. */
export function viewOf(attempt: Attempt): CallView {
  let view = views.get(attempt);
  if (!view) views.set(attempt, (view = new View(attempt.call, attempt)));
  return view;
}

/** When the attempt of a view ends. Unlike the view's `signal`, it creates no AbortSignal. */
export function stopOf(view: CallView): Stoppable {
  return view instanceof View ? View.stopOf(view) : view.signal;
}

class View implements CallView {
  readonly #call: Call;
  readonly #attempt: Attempt;
  readonly attempt: number;
  #headers: HeaderReader | undefined;

  constructor(call: Call, attempt: Attempt) {
    this.#call = call;
    this.#attempt = attempt;
    this.attempt = call.attempts.length;
    Object.freeze(this);
  }

  static stopOf(view: View): Stoppable {
    return view.#attempt.stop;
  }

  get id(): string {
    return this.#call.id;
  }

  get format(): string {
    return this.#call.format;
  }

  get model(): string {
    return this.#call.model;
  }

  get key(): string | undefined {
    return this.#call.key;
  }

  get stream(): boolean {
    return this.#call.stream;
  }

  get headers(): HeaderReader {
    return (this.#headers ??= withoutCredentials(this.#call.headers));
  }

  get target(): TargetView {
    return describeTarget(this.#attempt.target);
  }

  get request(): ChatRequest | undefined {
    return this.#attempt.request;
  }

  get signal(): AbortSignal {
    return this.#attempt.stop.signal;
  }

  reportLoss(code: LossCode, path: string, note?: string): void {
    this.#attempt.reportLoss(code, path, note);
  }
}

const targetViews = new WeakMap<Target, TargetView>();

function describeTarget(target: Target): TargetView {
  let view = targetViews.get(target);
  if (view) return view;
  const { provider, deployment, model, format, lane } = target;
  view = Object.freeze({
    provider: Object.freeze({ name: provider.name }),
    deployment: Object.freeze({ name: deployment.name }),
    model,
    format,
    lane,
  });
  targetViews.set(target, view);
  return view;
}

/** A settled call for the `done` hooks. */
export function recordOf(call: Call): CallRecord {
  const { attempt } = call;
  return Object.freeze({
    id: call.id,
    format: call.format,
    model: call.model,
    key: call.key,
    stream: call.stream,
    headers: withoutCredentials(call.headers),
    target: attempt && describeTarget(attempt.target),
    attempts: Object.freeze(call.attempts.map(describeAttempt)),
    skipped: call.skipped,
    losses: attempt?.losses ?? [],
    status: call.status,
    outcome: call.outcome!,
    error: call.error,
    usage: attempt?.usage ?? NO_USAGE,
    estimated: attempt?.estimated,
    finish: attempt?.finish,
    startedAt: call.startedAt,
    headAt: attempt?.headAt,
    firstByteAt: attempt?.firstByteAt,
    endedAt: call.endedAt!,
    upstreamStatus: attempt?.upstreamStatus,
    upstreamRequestId: attempt?.upstreamRequestId,
  });
}

function describeAttempt({ target, waited, usage, failure }: Attempt): AttemptRecord {
  return Object.freeze({ target: describeTarget(target), waited, usage, failure });
}
