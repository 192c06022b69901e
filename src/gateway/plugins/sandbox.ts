/**
 * Keeps what a plugin does wrong to the call it does it in, and names the plugin in the log. A plugin shares the
 * process, so this holds for what it throws, rejects, forgets and garbles; not for a loop that never yields.
 */
import type { Call } from "../../core/call.ts";
import type { ChatRequest } from "../../core/chat.ts";
import { GatewayError } from "../../core/error.ts";
import { describeThrown } from "../../core/error-text.ts";
import type { ChatEvent } from "../../core/events.ts";
import type { Hooks, Plugin } from "../../core/plugin.ts";
import { EventRules } from "./event-rules.ts";

/** What failed in which plugin, outside of any call's answer. */
export type OnPluginFault = (message: string, cause: unknown) => void;

/** The plugin's hooks, each of which can fail its own call at most. */
export function sandboxHooks({ name, hooks = {} }: Plugin, onFault: OnPluginFault): Hooks {
  const { request, answer, observe, done } = hooks;
  const contained: Hooks = {};
  if (request)
    contained.request = (wanted, call) => {
      const blame = (cause: unknown) => pluginFailure(`plugin ${name}: its request hook failed`, cause);
      return containRequest(() => request.call(hooks, wanted, call), call, blame);
    };
  if (answer)
    contained.answer = (events, call) =>
      containEvents(() => answer.call(hooks, events, call), call, `plugin ${name}: its answer hook`);
  if (observe)
    contained.observe = containObserve(hooks, observe, `plugin ${name}: its observe hook`, onFault);
  if (done) {
    const failed = (cause: unknown) => onFault(`plugin ${name}: its done hook failed`, cause);
    contained.done = (call) => quietly(() => done.call(hooks, call), failed);
  }
  return contained;
}

/** A hook that never comes back is left behind when the call is given up. */
function containRequest(
  run: () => void | Promise<void>,
  call: Call,
  blame: (cause: unknown) => GatewayError,
): void | Promise<void> {
  try {
    const pending: unknown = run();
    if (!isThenable(pending)) return;
    const left = leaveOnAbort(call);
    const ended = Promise.resolve(pending).then(
      () => {},
      (cause: unknown) => {
        throw blame(cause);
      },
    );
    return Promise.race([ended, left.aborted]).finally(left.forget);
  } catch (cause) {
    throw blame(cause);
  }
}

/** Watching must not change what is watched: a failure is told once a call, and the answer goes on. */
function containObserve(
  hooks: Hooks,
  observe: NonNullable<Hooks["observe"]>,
  who: string,
  onFault: OnPluginFault,
): NonNullable<Hooks["observe"]> {
  const told = new WeakSet<Call>();
  return (event, call) => {
    const failed = (cause: unknown) => {
      if (told.has(call)) return;
      told.add(call);
      onFault(`${who} failed`, cause);
    };
    void quietly(() => observe.call(hooks, event, call), failed);
  };
}

/** Runs something whose failure is nobody's but its own. */
function quietly(run: () => unknown, failed: (cause: unknown) => void): void | Promise<void> {
  try {
    const pending = run();
    if (isThenable(pending)) return Promise.resolve(pending).then(() => {}, failed);
  } catch (cause) {
    failed(cause);
  }
}

/** The events of a provider that is a program. */
export function generated(
  generate: (request: ChatRequest, call: Call) => AsyncIterable<ChatEvent>,
  request: ChatRequest,
  call: Call,
): AsyncIterable<ChatEvent> {
  const provider = call.target!.provider;
  return containEvents(() => generate.call(provider, request, call), call, `provider ${provider.name}`);
}

/** After so many events without a pause the rest of the gateway gets its turn. */
const FAIR_SHARE = 512;

/**
 * The events a plugin gives, as far as they keep the rules of events; behind `message-end` nothing is read. One that does
 * not listen to the signal is left behind when the call is aborted.
 * @param who begins the sentence in the log.
 */
async function* containEvents(
  open: () => AsyncIterable<ChatEvent>,
  call: Call,
  who: string,
): AsyncGenerator<ChatEvent> {
  const left = leaveOnAbort(call);
  const rules = new EventRules();
  let iterator: AsyncIterator<ChatEvent> | undefined;
  try {
    iterator = open()[Symbol.asyncIterator]();
    for (let count = 1; ; count++) {
      const { done, value } = await Promise.race([iterator.next(), left.aborted]);
      if (done) return;
      rules.check(value);
      yield value;
      if (value.type === "message-end") return;
      if (count % FAIR_SHARE === 0) await new Promise(setImmediate);
    }
  } catch (cause) {
    throw call.stop.reason ?? pluginFailure(`${who} failed`, cause);
  } finally {
    left.forget();
    close(iterator);
  }
}

function close(iterator: AsyncIterator<ChatEvent> | undefined): void {
  try {
    const closing: unknown = iterator?.return?.();
    if (isThenable(closing)) void Promise.resolve(closing).catch(() => {});
  } catch {
    // It has failed already, or its answer is over.
  }
}

interface Leave {
  /** Rejects when the call is aborted. */
  aborted: Promise<never>;
  forget(): void;
}

function leaveOnAbort(call: Call): Leave {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  aborted.catch(() => {});
  const { stop } = call;
  const onAbort = () => reject(stop.reason);
  if (stop.aborted) onAbort();
  stop.addEventListener("abort", onAbort);
  return { aborted, forget: () => stop.removeEventListener("abort", onAbort) };
}

/** What a plugin says on purpose is passed on; anything else is for the log, under the plugin's name. */
function pluginFailure(what: string, cause: unknown): GatewayError {
  if (cause instanceof GatewayError) return cause;
  const named = new Error(what);
  named.stack = `${what}: ${describeThrown(cause)}`;
  return GatewayError.from(named);
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
