/**
 * Confines the errors of a plugin to its call, and names the plugin in the log. It covers what a plugin throws or rejects,
 * promises that never settle and invalid events. A plugin shares the process: an endless synchronous loop blocks weir.
 */
import type { Attempt } from "../../core/call.ts";
import type { CallView } from "../../core/call-view.ts";
import type { ChatRequest } from "../../core/chat.ts";
import type { EmbedAnswer, EmbedRequest } from "../../core/embed.ts";
import { GatewayError } from "../../core/error.ts";
import { describeThrown } from "../../core/error-text.ts";
import type { ChatEvent } from "../../core/events.ts";
import { isObject } from "../../core/json.ts";
import type { Hooks, Interception, Plugin } from "../../core/plugin.ts";
import type { Provider } from "../../core/provider.ts";
import type { LoadedHooks } from "../types.ts";
import { stopOf, viewOf } from "./call-view.ts";
import { EventRules } from "./event-rules.ts";
import { wrapExplain } from "./explained.ts";
import { addEditing, type EditingHook, removeEditing } from "./late-hooks.ts";

/** Called for a plugin failure that does not fail a call. @param message names the plugin and its hook */
export type OnPluginFault = (message: string, cause: unknown) => void;

/** The plugin's hooks, wrapped so that a failing hook fails at most its own call. */
export function sandboxHooks({ name, hooks = {} }: Plugin, onFault: OnPluginFault): LoadedHooks {
  const { admit, intercept, request, answer, observe, explain, done } = hooks;
  const wrapped: LoadedHooks = { plugin: name };
  const failure = (hook: string) => (cause: unknown, late?: GatewayError) =>
    pluginFailure(`plugin ${name}: its ${hook} hook failed`, cause, late);
  if (admit) wrapped.admit = (call) => wrapHook(() => admit.call(hooks, call), call, failure("admit"));
  if (intercept)
    wrapped.intercept = (call) =>
      wrapIntercept(() => intercept.call(hooks, call), call, name, failure("intercept"));
  if (request)
    wrapped.request = (wanted, call) =>
      wrapHook(() => request.call(hooks, wanted, call), call, failure("request"));
  if (answer)
    wrapped.answer = (events, call) =>
      wrapEdit((given) => answer.call(hooks, given, call), events, call, name, "its answer hook");
  if (observe) wrapped.observe = wrapObserve(hooks, observe, `plugin ${name}: its observe hook`, onFault);
  if (explain) wrapped.explain = wrapExplain(name, (call) => explain.call(hooks, call), onFault);
  if (done) {
    const failed = (cause: unknown) => onFault(`plugin ${name}: its done hook failed`, cause);
    wrapped.done = (call) => catchFailure(() => done.call(hooks, call), failed);
  }
  return wrapped;
}

/** The error of a call whose plugin failed. @param late the timeout that ended the wait for it */
export type Failure = (cause: unknown, late?: GatewayError) => GatewayError;

/**
 * Runs a hook. When the call is aborted, weir stops waiting for a hook that has not returned.
 * @param check judges what the hook returns
 */
export function wrapHook<Result>(
  run: () => Result | Promise<Result>,
  call: CallView,
  failure: Failure,
  check: (result: Result) => void = () => {},
): Result | Promise<Result> {
  try {
    const result = run();
    if (isThenable(result)) return waitFor(result, call, failure, check);
    check(result);
    return result;
  } catch (cause) {
    throw failure(cause);
  }
}

async function waitFor<Result>(
  pending: PromiseLike<Result>,
  call: CallView,
  failure: Failure,
  check: (result: Result) => void,
): Promise<Result> {
  const abort = waitForAbort(call);
  try {
    const result = await Promise.race([pending, abort.aborted]);
    check(result);
    return result;
  } catch (cause) {
    const { reason } = stopOf(call);
    if (reason === undefined) throw failure(cause);
    throw isTimeout(reason) ? failure(cause, reason) : reason;
  } finally {
    abort.forget();
  }
}

/** @param name of the plugin */
function wrapIntercept(
  run: () => ReturnType<NonNullable<Hooks["intercept"]>>,
  call: CallView,
  name: string,
  failure: Failure,
): Interception | undefined | Promise<Interception | undefined> {
  const withEdit = (result: Interception | undefined): Interception | undefined => {
    const edit = result?.edit;
    if (!edit) return result;
    return {
      ...result,
      edit: (events, view) =>
        wrapEdit(
          (given) => edit.call(result, given, view),
          events,
          view,
          name,
          "the edit of its intercept hook",
        ),
    };
  };
  const pending = wrapHook(run, call, failure, checkInterception);
  return pending instanceof Promise ? pending.then(withEdit) : withEdit(pending);
}

/**
 * The events that a hook makes of those of an answer. What the answer itself lacks is not the fault of the hook.
 * @param what the hook, for sentences about its plugin
 */
function wrapEdit(
  edit: (events: AsyncIterable<ChatEvent>) => AsyncIterable<ChatEvent>,
  events: AsyncIterable<ChatEvent>,
  call: CallView,
  plugin: string,
  what: string,
): AsyncIterable<ChatEvent> {
  const input = new WatchedEvents(events);
  return wrapEvents(() => edit(input), call, `plugin ${plugin}: ${what}`, input);
}

/** @throws Error that names what is wrong with the result of an `intercept` hook */
function checkInterception(result: Interception | undefined): void {
  if (result === undefined) return;
  const given: unknown = result;
  if (!isObject(given)) throw new Error("it must return an object or undefined");
  const unknown = Object.keys(given).find((name) => !["model", "answer", "edit"].includes(name));
  if (unknown !== undefined)
    throw new Error(`it returned the unknown member ${JSON.stringify(unknown.slice(0, 60))}`);
  const { model, answer } = result;
  if (model !== undefined && (typeof model !== "string" || model === ""))
    throw new Error("its model must be the name of a model");
  if (result.edit !== undefined && typeof result.edit !== "function")
    throw new Error("its edit must be a function");
  if (answer === undefined || typeof answer === "string") return;
  if (typeof answer !== "object" || !(Symbol.iterator in answer || Symbol.asyncIterator in answer))
    throw new Error("its answer must be a text or events");
}

/** A failing observer does not fail the call: weir reports its first failure in each call. */
function wrapObserve(
  hooks: Hooks,
  observe: NonNullable<Hooks["observe"]>,
  who: string,
  onFault: OnPluginFault,
): NonNullable<Hooks["observe"]> {
  const reported = new WeakSet<CallView>();
  return (event, call) => {
    const failed = (cause: unknown) => {
      if (reported.has(call)) return;
      reported.add(call);
      onFault(`${who} failed`, cause);
    };
    void catchFailure(() => observe.call(hooks, event, call), failed);
  };
}

/** Runs a function and passes what it throws or rejects to `failed`. */
function catchFailure(run: () => unknown, failed: (cause: unknown) => void): void | Promise<void> {
  try {
    const pending = run();
    if (isThenable(pending)) return Promise.resolve(pending).then(() => {}, failed);
  } catch (cause) {
    failed(cause);
  }
}

/** The events of a provider that is a program. */
export function generated(
  generate: NonNullable<Provider["generate"]>,
  request: ChatRequest,
  attempt: Attempt,
): AsyncIterable<ChatEvent> {
  const { provider } = attempt.target;
  const view = viewOf(attempt);
  return wrapEvents(() => generate.call(provider, request, view), view, `provider ${provider.name}`);
}

/** The vectors of a provider that is a program. @throws GatewayError for a failure of the plugin, or an invalid answer */
export function embeddedBy(
  provider: Provider,
  request: EmbedRequest,
  attempt: Attempt,
): EmbedAnswer | Promise<EmbedAnswer> {
  const view = viewOf(attempt);
  const failure: Failure = (cause) => pluginFailure(`provider ${provider.name} failed`, cause);
  return wrapHook(() => provider.embed!(request, view), view, failure, checkEmbedAnswer);
}

/** @throws Error that names what is wrong with the result of `embed` */
function checkEmbedAnswer(answer: EmbedAnswer): void {
  const given: unknown = answer;
  if (!isObject(given) || !Array.isArray(given["vectors"]))
    throw new Error("embed must return { vectors: […] }");
  for (const [index, vector] of answer.vectors.entries())
    if (!isVector(vector)) throw new Error(`vectors[${index}] must be a list of finite numbers`);
  const { usage } = answer;
  if (usage !== undefined && !Number.isFinite(usage?.input)) throw new Error("usage.input must be a number");
}

function isVector(value: unknown): boolean {
  if (!Array.isArray(value) && !ArrayBuffer.isView(value)) return false;
  return Array.from(value as unknown as ArrayLike<unknown>).every(Number.isFinite);
}

/** After this many events weir yields to the event loop, so that a fast plugin does not block other calls. */
const EVENTS_PER_TURN = 512;

/** The events that a hook gets, and how far it has read them. */
class WatchedEvents implements AsyncIterable<ChatEvent> {
  readonly #events: AsyncIterable<ChatEvent>;
  /** The hook waits for the next event. */
  isAwaited = false;
  /** The answer ended without `message-end`. */
  isCut = false;

  constructor(events: AsyncIterable<ChatEvent>) {
    this.#events = events;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ChatEvent> {
    let isWhole = false;
    this.isAwaited = true;
    for await (const event of this.#events) {
      this.isAwaited = false;
      isWhole ||= event.type === "message-end";
      yield event;
      this.isAwaited = true;
    }
    this.isCut = !isWhole;
    this.isAwaited = false;
  }
}

/**
 * The events of a plugin up to `message-end`, checked against the rules. When the call is aborted, weir stops waiting for the
 * plugin, even if it ignores the signal.
 * @param who the plugin and its part, for the errors
 * @param input what the part gets of an answer, if it is a hook
 * @throws GatewayError for a failure of the plugin or an event that breaks a rule
 */
async function* wrapEvents(
  open: () => AsyncIterable<ChatEvent>,
  call: CallView,
  who: string,
  input?: WatchedEvents,
): AsyncGenerator<ChatEvent> {
  const abort = waitForAbort(call);
  const stop = stopOf(call);
  const rules = new EventRules();
  const what = `${who} failed`;
  let iterator: AsyncIterator<ChatEvent> | undefined;
  /** weir waits for the plugin, and the call was not given up before. */
  let isPending = false;
  const hook: EditingHook = {
    isLate: () => isPending && input?.isAwaited === false,
    failure: (timeout) => pluginFailure(what, timeout, timeout),
  };
  addEditing(stop, hook);
  try {
    iterator = iteratorOf(open());
    for (let count = 1; ; count++) {
      isPending = !stop.aborted;
      const { done, value } = await Promise.race([iterator.next(), abort.aborted]);
      isPending = false;
      if (done && input?.isCut) return;
      if (done) throw new Error("its events ended without message-end");
      rules.check(value);
      yield value;
      if (value.type === "message-end") return;
      if (count % EVENTS_PER_TURN === 0) await new Promise(setImmediate);
    }
  } catch (cause) {
    const { reason } = stop;
    if (reason === undefined) throw pluginFailure(what, cause);
    throw hook.isLate() && isTimeout(reason) ? hook.failure(reason) : reason;
  } finally {
    removeEditing(stop, hook);
    abort.forget();
    close(iterator);
  }
}

/** @throws Error if a plugin returned no events */
function iteratorOf(events: AsyncIterable<ChatEvent>): AsyncIterator<ChatEvent> {
  const given: unknown = events;
  if (typeof given === "object" && given !== null && Symbol.asyncIterator in given)
    return events[Symbol.asyncIterator]();
  throw new Error("it must be an async generator (async *), or return an async iterable of events");
}

/** Whether a call timed out: while weir waits for a hook, that is the fault of the hook and not of a provider. */
function isTimeout(reason: unknown): reason is GatewayError {
  return reason instanceof GatewayError && reason.kind === "timeout";
}

function close(iterator: AsyncIterator<ChatEvent> | undefined): void {
  try {
    const closing: unknown = iterator?.return?.();
    if (isThenable(closing)) void Promise.resolve(closing).catch(() => {});
  } catch {
    // The result is not needed: the answer has failed or is complete.
  }
}

interface AbortWait {
  /** Rejects when the call is aborted. */
  aborted: Promise<never>;
  forget(): void;
}

function waitForAbort(call: CallView): AbortWait {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  aborted.catch(() => {});
  const stop = stopOf(call);
  const onAbort = () => reject(stop.reason);
  if (stop.aborted) onAbort();
  stop.addEventListener("abort", onAbort);
  return { aborted, forget: () => stop.removeEventListener("abort", onAbort) };
}

/**
 * Passes a GatewayError of the plugin on; any other error becomes one that names the plugin to the client. Only the log gets the
 * cause, which may contain anything.
 * @param late the timeout that ended the wait for a hook
 */
export function pluginFailure(what: string, cause: unknown, late?: GatewayError): GatewayError {
  if (cause instanceof GatewayError && !late) return cause;
  const named = new Error(what);
  named.stack = `${what}: ${late ? `it was not done in time. ${late.message}` : describeThrown(cause)}`;
  const message = `The gateway failed while it handled this request (${what}); its log has the details.`;
  return new GatewayError("internal", message, { code: late?.code, status: late?.status, cause: named });
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
