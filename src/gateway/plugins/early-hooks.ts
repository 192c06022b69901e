/** The hooks before the first attempt: `admit` may refuse the call, `intercept` may answer it or choose its model. */
import type { CallView } from "../../core/call-view.ts";
import type { ChatRequest } from "../../core/chat.ts";
import { withoutCredentials } from "../../core/client-headers.ts";
import type { CodecContext } from "../../core/context.ts";
import type { ChatEvent } from "../../core/events.ts";
import { NO_USAGE } from "../../core/events.ts";
import type { Interception } from "../../core/plugin.ts";
import type { Deployment, Target } from "../../core/provider.ts";
import type { Incoming, LoadedHooks } from "../types.ts";
import { earlyViewOf } from "./call-view.ts";

/** Whether a plugin has a hook before the first attempt. */
export function hasEarlyHooks(hooks: readonly LoadedHooks[]): boolean {
  return hooks.some((hook) => hook.admit || hook.intercept);
}

/**
 * Runs the hooks in the order of the plugins: first every `admit`, then `intercept` until one answers. A model that a hook
 * chooses is recorded on the call. weir waits only for promises.
 * @returns the target that answers in place of a provider, if a plugin does
 * @throws GatewayError if a plugin refuses the call or fails
 */
export async function runEarlyHooks(
  incoming: Incoming,
  hooks: readonly LoadedHooks[],
): Promise<Target | undefined> {
  const { call } = incoming;
  const view = viewBefore(incoming);
  await runAdmitHooks(view, hooks);
  // A plugin that asks has chosen the model itself, and its own hook would ask without end.
  if (call.parent) return undefined;
  for (const { plugin, intercept } of hooks) {
    const pending = intercept?.(view);
    const decided = pending instanceof Promise ? await pending : pending;
    if (decided?.model !== undefined) call.routedModel = decided.model;
    if (decided?.edit) (call.edits ??= []).push(decided.edit);
    if (decided?.answer !== undefined) return targetOf(plugin, decided.answer, view);
  }
  return undefined;
}

/** The view of a call before its first attempt. The request is decoded when a hook reads it. */
export function viewBefore(incoming: Incoming): CallView {
  let decoded: { request?: ChatRequest } | undefined;
  return earlyViewOf(incoming.call, () => (decoded ??= { request: preview(incoming) }).request);
}

/** Runs every `admit` hook. weir waits only for promises. @throws GatewayError if a plugin refuses the call or fails */
export async function runAdmitHooks(view: CallView, hooks: readonly LoadedHooks[]): Promise<void> {
  for (const hook of hooks) {
    const pending = hook.admit?.(view);
    if (pending) await pending;
  }
}

/** The canonical request for a target that is not known yet; `undefined` if only the native lane can carry the request. */
function preview({ call, format, body, stored }: Incoming): ChatRequest | undefined {
  const context: CodecContext = {
    id: call.id,
    startedAt: call.startedAt,
    model: call.model,
    headers: withoutCredentials(call.headers),
    sameFormat: false,
    target: { provider: "", model: call.model, traits: {}, isVendor: false },
    toolNames: new Map(),
    reportLoss() {},
  };
  try {
    return format.client.codec.decodeRequest(stored ? stored.previewed(context) : body, context);
  } catch {
    return undefined;
  }
}

/** A program that gives the answer of a plugin. */
function targetOf(
  plugin: string,
  answer: NonNullable<Interception["answer"]>,
  { id, model }: CallView,
): Target {
  const deployment: Deployment = { name: plugin, baseUrl: "", credentials: {}, weight: 1, priority: 0 };
  const generate = () => eventsOf(typeof answer === "string" ? textEvents(answer, id, model) : answer);
  const provider = { name: plugin, deployments: [deployment], source: plugin, patterns: [], generate };
  const reason = `the plugin ${plugin} answered`;
  return { provider, deployment, model, lane: "generated", format: "", url: "", reason };
}

async function* eventsOf(events: Iterable<ChatEvent> | AsyncIterable<ChatEvent>): AsyncGenerator<ChatEvent> {
  yield* events;
}

function textEvents(text: string, id: string, model: string): ChatEvent[] {
  return [
    { type: "message-start", id, model },
    { type: "block-start", index: 0, block: { type: "text" } },
    { type: "block-delta", index: 0, delta: text },
    { type: "block-end", index: 0 },
    { type: "message-end", reason: { kind: "stop" }, usage: NO_USAGE },
  ];
}
