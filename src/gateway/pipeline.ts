/**
 * One call, from the client's request to the beginning of its answer: `prepare`, `send`, `open`. The route then delivers what
 * was opened (`delivery/deliver.ts`).
 */
import { Attempt } from "../core/call.ts";
import { withoutCredentials } from "../core/client-headers.ts";
import { GatewayError } from "../core/error.ts";
import type { Target } from "../core/provider.ts";
import { planFor, prepareModel } from "./access.ts";
import { holdHead } from "./delivery/held-stream.ts";
import type { Deadline } from "./delivery/deadline.ts";
import { chooseLane } from "./lanes/choose-lane.ts";
import type { Lane, Opened } from "./lanes/lane.ts";
import { isMissingPath } from "./lanes/missing-path.ts";
import { TranslatedLane } from "./lanes/translated.ts";
import { send } from "./lanes/send.ts";
import { adoptReported } from "./lanes/losses.ts";
import { hasEarlyHooks, runEarlyHooks } from "./plugins/early-hooks.ts";
import { sizeOf } from "./request-size.ts";
import { attempt, type Attempted } from "./retry/attempts.ts";
import { inNextFormat } from "./routing/spoken-formats.ts";
import { findStored } from "./stored/find-stored.ts";
import type { Gateway, Incoming } from "./types.ts";

/**
 * Runs the hooks before the first attempt, if there are any, and tries one target after another until one begins to answer.
 * @throws GatewayError for a failure before the first byte of the answer
 */
export function exchange(incoming: Incoming, gateway: Gateway, deadline: Deadline): Promise<Opened> {
  incoming.call.asker = gateway.asker;
  const opening = incoming.format.client.beside.stored
    ? exchangeStored(incoming, gateway)
    : beginExchange(incoming, gateway);
  return incoming.call.stream ? holdHead(opening, deadline) : opening;
}

function beginExchange(incoming: Incoming, gateway: Gateway): Promise<Opened> {
  return hasEarlyHooks(gateway.hooks) ? exchangeAfterHooks(incoming, gateway) : attemptAll(incoming, gateway);
}

/** Tries the targets of the call's model. */
function attemptAll(incoming: Incoming, gateway: Gateway): Promise<Opened> {
  const { call } = incoming;
  const attempted = attemptedWith(call.routedModel ?? call.model, incoming, gateway);
  attempted.substitute = (model) => substitute(model, incoming, gateway);
  return attempt(attempted, gateway);
}

function attemptedWith(model: string, incoming: Incoming, gateway: Gateway): Attempted {
  const { call, format, stored } = incoming;
  const whole = planFor(call, model, gateway.registry, format.id);
  return {
    call,
    plan: stored ? stored.narrow(whole) : whole,
    bytes: incoming.bytes.length,
    affinity: () => affinityOf(incoming),
    size: () => sizeOf(incoming),
    open: (running) => open(incoming, running, gateway),
  };
}

/** The model that a budget names for calls that it cannot pay any more. @returns undefined if the key may not use it */
async function substitute(
  model: string,
  incoming: Incoming,
  gateway: Gateway,
): Promise<Attempted | undefined> {
  const { call } = incoming;
  try {
    await prepareModel(call, model, gateway.registry);
    const attempted = attemptedWith(model, incoming, gateway);
    call.reportLoss("substituted", "model", `a budget is exhausted; ${model} answers instead`);
    return attempted;
  } catch (thrown) {
    // The client named neither this model nor its provider: its answer is the refusal of the budget.
    if (thrown instanceof GatewayError && thrown.kind === "permission") return undefined;
    throw thrown;
  }
}

/** Identifies the conversation; empty if nothing does. */
function affinityOf({ call, format, bytes, spanOf }: Incoming): string {
  return format.client.facts.sessionOf?.({ headers: withoutCredentials(call.headers), bytes, spanOf }) ?? "";
}

async function exchangeStored(incoming: Incoming, gateway: Gateway): Promise<Opened> {
  const finding = findStored(incoming, gateway);
  if (finding) await finding;
  return beginExchange(incoming, gateway);
}

async function exchangeAfterHooks(incoming: Incoming, gateway: Gateway): Promise<Opened> {
  const { call } = incoming;
  const plugin = await runEarlyHooks(incoming, gateway.hooks);
  if (call.abortReason) throw call.abortReason;
  if (plugin) return openPlugin(incoming, plugin, gateway);
  if (call.routedModel !== undefined) await prepareModel(call, call.routedModel, gateway.registry);
  return attemptAll(incoming, gateway);
}

/** The answer of a plugin in place of a provider. There is no second attempt, and `request` hooks do not run. */
function openPlugin(incoming: Incoming, plugin: Target, gateway: Gateway): Promise<Opened> {
  const running = new Attempt(incoming.call, plugin);
  gateway.ledger.charge(running);
  return open(incoming, running, gateway, new TranslatedLane(incoming, running, { ...gateway, hooks: [] }));
}

/**
 * One attempt. When the provider refuses a part of the request that weir can leave out, or lacks the path of a format, weir
 * prepares the request anew and sends it again to the same host. It records the missing path after the next format answered.
 */
async function open(
  incoming: Incoming,
  running: Attempt,
  gateway: Gateway,
  lane: Lane = chooseLane(incoming, running, gateway),
): Promise<Opened> {
  const { call, format } = incoming;
  const missing: string[] = [];
  let firstRefusal: GatewayError | undefined;
  for (;;) {
    const preparing = lane.prepare();
    const prepared = preparing instanceof Promise ? await preparing : preparing;
    const sending = prepared && send(prepared, running);
    if (sending) gateway.sent?.(running, incoming);
    const response = await sending;
    if (!response || response.ok) {
      const adopting = response && adoptReported(response, running, gateway);
      if (adopting) await adopting;
      const opening = lane.open(response, gateway);
      const opened = opening instanceof Promise ? await opening : opening;
      if (opened.kind === "stream") await opened.source.begin();
      for (const id of missing) gateway.registry.noteMissingFormat(running.target.deployment, id);
      call.status = opened.status;
      return opened;
    }
    const refusal = await lane.refusal(response);
    if (lane.leavesOut(refusal)) continue;
    if (!isMissingPath(refusal, running)) throw refusal;
    firstRefusal ??= refusal;
    // The path below the usual one may be missing alone, and only one deployment has a stored answer.
    const hasOnlyThis = incoming.below !== undefined || incoming.stored?.pin !== undefined;
    const next = hasOnlyThis ? undefined : inNextFormat(running.target, format.id);
    // If the host serves none of its formats, the client gets what the host said in the first one.
    if (!next) throw firstRefusal;
    missing.push(running.target.format);
    running.turnTo(next);
    lane = chooseLane(incoming, running, gateway);
  }
}
