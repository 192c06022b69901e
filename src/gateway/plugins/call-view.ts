/** Makes what plugins see of a call. Views are created when a plugin first needs one. */
import type { AskAnswer, AskRequest } from "../../core/ask.ts";
import type { Attempt, Call } from "../../core/call.ts";
import type { AttemptRecord, CallRecord, CallView, TargetView } from "../../core/call-view.ts";
import type { ChatRequest } from "../../core/chat.ts";
import { withoutCredentials } from "../../core/client-headers.ts";
import type { Refusable } from "../../core/error.ts";
import { GatewayError } from "../../core/error.ts";
import { type ChatEvent, NO_USAGE } from "../../core/events.ts";
import type { HeaderReader } from "../../core/headers.ts";
import type { Loss, LossCode } from "../../core/loss.ts";
import type { Target } from "../../core/provider.ts";
import type { Stop, Stoppable } from "../../core/stop.ts";

const views = new WeakMap<Attempt, CallView>();

/** The view of an attempt; the same object for all plugins. */
export function viewOf(attempt: Attempt): CallView {
  let view = views.get(attempt);
  if (!view) views.set(attempt, (view = new View(attempt.call, attempt, () => attempt.request)));
  return view;
}

/** The view of a call before its first attempt. @param request decodes the request, or returns the decoded one */
export function earlyViewOf(call: Call, request: () => ChatRequest | undefined): CallView {
  return new View(call, undefined, request);
}

/** The stop of a view's attempt, or its call before the first attempt. Unlike the view's `signal`, it creates no AbortSignal. */
export function stopOf(view: CallView): Stoppable {
  return view instanceof View ? View.stopOf(view) : view.signal;
}

class View implements CallView {
  readonly #call: Call;
  readonly #attempt: Attempt | undefined;
  readonly #stop: Stop;
  readonly #request: () => ChatRequest | undefined;
  readonly attempt: number;
  #headers: HeaderReader | undefined;

  constructor(call: Call, attempt: Attempt | undefined, request: () => ChatRequest | undefined) {
    this.#call = call;
    this.#attempt = attempt;
    this.#stop = attempt?.stop ?? call.stop;
    this.#request = request;
    this.attempt = call.attempts.length;
    Object.freeze(this);
  }

  static stopOf(view: View): Stoppable {
    return view.#stop;
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

  get caller(): string | undefined {
    return this.#call.principal?.id;
  }

  get notes(): unknown[] | undefined {
    return this.#call.notes;
  }

  set notes(notes: unknown[] | undefined) {
    if (notes) this.#call.notes = notes;
  }

  get parent(): string | undefined {
    return this.#call.parent?.id;
  }

  get stream(): boolean {
    return this.#call.stream;
  }

  get headers(): HeaderReader {
    return (this.#headers ??= withoutCredentials(this.#call.headers));
  }

  get target(): TargetView | undefined {
    return this.#attempt && describeTarget(this.#attempt);
  }

  get losses(): readonly Loss[] {
    return (this.#attempt ?? this.#call).losses;
  }

  get skipped(): readonly string[] {
    return this.#call.skipped;
  }

  get refused(): readonly Refusable[] {
    return this.#attempt?.refused ?? [];
  }

  get request(): ChatRequest | undefined {
    return this.#request();
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  reportLoss(code: LossCode, path: string, note?: string): void {
    (this.#attempt ?? this.#call).reportLoss(code, path, note);
  }

  addHeader(name: string, value: string): boolean {
    const lower = name.toLowerCase();
    if (!HEADER_NAME.test(lower) || (RESERVED.test(lower) && lower !== SHARED))
      throw new Error(`a plugin may add headers x-…, but not ${JSON.stringify(name.slice(0, 60))}`);
    if (!HEADER_VALUE.test(value))
      throw new Error(`the value of ${lower} must be printable ASCII, at most 1,024 characters`);
    if (this.#call.hasHead) return false;
    (this.#call.extraHeaders ??= {})[lower] = value;
    return true;
  }

  async ask(request: AskRequest): Promise<AskAnswer> {
    const { asker } = this.#call;
    if (asker) return asker.ask(request, this.#call, this.#stop);
    throw sendsNothing();
  }

  askStream(request: AskRequest): AsyncIterable<ChatEvent> {
    const { asker } = this.#call;
    if (asker) return asker.stream(request, this.#call, this.#stop);
    throw sendsNothing();
  }
}

function sendsNothing(): GatewayError {
  return new GatewayError(
    "invalid-request",
    "A plugin asks another model for this request, and explain sends nothing.",
    { code: "ask_unavailable" },
  );
}

const HEADER_NAME = /^x-[a-z0-9-]{1,62}$/;
const RESERVED = /^x-(?:weir-|request-id$)/;
/** A name of weir that every plugin may use: clients read in it whether a cache answered, also a cache that weir does not have. */
const SHARED = "x-weir-cache";
const HEADER_VALUE = /^[\x20-\x7e]{0,1024}$/;

const NO_VARIABLES = Object.freeze({});

const targetViews = new WeakMap<Target, TargetView>();

function describeTarget({ target, lane }: Attempt): TargetView {
  const view = viewOfTarget(target);
  return lane === view.lane ? view : Object.freeze({ ...view, lane });
}

function viewOfTarget(target: Target): TargetView {
  let view = targetViews.get(target);
  if (view) return view;
  const { provider, deployment, model, format, lane } = target;
  view = Object.freeze({
    provider: Object.freeze({ name: provider.name }),
    deployment: Object.freeze({ name: deployment.name }),
    variables: deployment.variables ?? NO_VARIABLES,
    model,
    format,
    lane,
  });
  targetViews.set(target, view);
  return view;
}

/** A settled call for the `done` hooks. It shares nothing that a plugin could change with the gateway or another record. */
export function recordOf(call: Call): CallRecord {
  const { attempt } = call;
  const facts = structuredClone({
    id: call.id,
    format: call.format,
    model: call.model,
    key: call.key,
    caller: call.principal?.id,
    parent: call.parent?.id,
    stream: call.stream,
    target: attempt && describeTarget(attempt),
    attempts: call.attempts.map(describeAttempt),
    skipped: call.skipped,
    losses: attempt?.losses ?? call.losses,
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
  const { notes, headers } = call;
  return Object.freeze({
    ...deepFreeze(facts),
    ...(notes && { notes }),
    headers: withoutCredentials(headers),
  });
}

function describeAttempt(attempt: Attempt): AttemptRecord {
  const { waited, usage, failure } = attempt;
  return { target: describeTarget(attempt), waited, usage, failure };
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null) return value;
  for (const member of Object.values(value)) deepFreeze(member);
  return Object.freeze(value);
}
