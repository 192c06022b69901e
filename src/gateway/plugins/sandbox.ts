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

/** Called for a plugin failure that does not fail a call. @param message names the plugin and its hook */
export type OnPluginFault = (message: string, cause: unknown) => void;

/** The plugin's hooks, wrapped so that a failing hook fails at most its own call. */
export function sandboxHooks({ name, hooks = {} }: Plugin, onFault: OnPluginFault): LoadedHooks {
  const { admit, intercept, request, answer, observe, done } = hooks;
  const wrapped: LoadedHooks = { plugin: name };
  const failure = (hook: string) => (cause: unknown) =>
    pluginFailure(`plugin ${name}: its ${hook} hook failed`, cause);
  if (admit) wrapped.admit = (call) => wrapHook(() => admit.call(hooks, call), call, failure("admit"));
  if (intercept)
    wrapped.intercept = (call) =>
      wrapIntercept(() => intercept.call(hooks, call), call, name, failure("intercept"));
  if (request)
    wrapped.request = (wanted, call) =>
      wrapHook(() => request.call(hooks, wanted, call), call, failure("request"));
  if (answer)
    wrapped.answer = (events, call) =>
      wrapEvents(() => answer.call(hooks, events, call), call, `plugin ${name}: its answer hook`);
  if (observe) wrapped.observe = wrapObserve(hooks, observe, `plugin ${name}: its observe hook`, onFault);
  if (done) {
    const failed = (cause: unknown) => onFault(`plugin ${name}: its done hook failed`, cause);
    wrapped.done = (call) => catchFailure(() => done.call(hooks, call), failed);
  }
  return wrapped;
}

/**
 * Runs a hook. When the call is aborted, weir stops waiting for a hook that has not returned.
 * @param check judges what the hook returns
 */
function wrapHook<Result>(
  run: () => Result | Promise<Result>,
  call: CallView,
  failure: (cause: unknown) => GatewayError,
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
  failure: (cause: unknown) => GatewayError,
  check: (result: Result) => void,
): Promise<Result> {
  const abort = waitForAbort(call);
  try {
    const result = await Promise.race([pending, abort.aborted]);
    check(result);
    return result;
  } catch (cause) {
    throw stopOf(call).reason ?? failure(cause);
  } finally {
    abort.forget();
  }
}

/** @param name of the plugin */
function wrapIntercept(
  run: () => ReturnType<NonNullable<Hooks["intercept"]>>,
  call: CallView,
  name: string,
  failure: (cause: unknown) => GatewayError,
): Interception | undefined | Promise<Interception | undefined> {
  const wrapEdit = (result: Interception | undefined): Interception | undefined => {
    const edit = result?.edit;
    if (!edit) return result;
    const who = `plugin ${name}: the edit of its intercept hook`;
    return {
      ...result,
      edit: (events, view) => wrapEvents(() => edit.call(result, events, view), view, who),
    };
  };
  const pending = wrapHook(run, call, failure, checkInterception);
  return pending instanceof Promise ? pending.then(wrapEdit) : wrapEdit(pending);
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
  const failure = (cause: unknown) => pluginFailure(`provider ${provider.name} failed`, cause);
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

/**
 * The events of a plugin up to `message-end`, checked against the rules. When the call is aborted, weir stops waiting for the
 * plugin, even if it ignores the signal.
 * @param who the beginning of the sentence in the log
 * @throws GatewayError for a failure of the plugin or an event that breaks a rule
 */
async function* wrapEvents(
  open: () => AsyncIterable<ChatEvent>,
  call: CallView,
  who: string,
): AsyncGenerator<ChatEvent> {
  const abort = waitForAbort(call);
  const rules = new EventRules();
  let iterator: AsyncIterator<ChatEvent> | undefined;
  try {
    iterator = open()[Symbol.asyncIterator]();
    for (let count = 1; ; count++) {
      const { done, value } = await Promise.race([iterator.next(), abort.aborted]);
      if (done) return;
      rules.check(value);
      yield value;
      if (value.type === "message-end") return;
      if (count % EVENTS_PER_TURN === 0) await new Promise(setImmediate);
    }
  } catch (cause) {
    throw stopOf(call).reason ?? pluginFailure(`${who} failed`, cause);
  } finally {
    abort.forget();
    close(iterator);
  }
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

/** Passes a GatewayError of the plugin on; any other error becomes an internal one, whose log entry names the plugin. */
function pluginFailure(what: string, cause: unknown): GatewayError {
  if (cause instanceof GatewayError) return cause;
  const named = new Error(what);
  named.stack = `${what}: ${describeThrown(cause)}`;
  return GatewayError.from(named);
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
