/**
 * One call, from the client's request to the beginning of its answer: `prepare`, `send`, `open`. The route then delivers what
 * was opened (`delivery/deliver.ts`).
 */
import { Attempt, type Call } from "../core/call.ts";
import { withoutCredentials } from "../core/client-headers.ts";
import { GatewayError } from "../core/error.ts";
import type { RequestSize } from "../core/ledger.ts";
import type { Target } from "../core/provider.ts";
import { prepareModel } from "./access.ts";
import { findNamed } from "./find-named.ts";
import { planIncoming } from "./kinds/plan-incoming.ts";
import { holdHead } from "./delivery/held-stream.ts";
import type { Deadline } from "./delivery/deadline.ts";
import { chooseLane } from "./lanes/choose-lane.ts";
import type { Lane, Opened, OpenedReceiver, Prepared } from "./lanes/lane.ts";
import { isMissingPath } from "./lanes/missing-path.ts";
import { discard } from "./lanes/read-answer.ts";
import { opened, tell } from "./lanes/receive.ts";
import { type HeadReceiver, sendTo } from "./lanes/send.ts";
import { TranslatedLane } from "./lanes/translated.ts";
import type { UpstreamResponse } from "./lanes/transport.ts";
import { adoptReported } from "./lanes/losses.ts";
import { hasEarlyHooks, runEarlyHooks } from "./plugins/early-hooks.ts";
import { sizeOf } from "./request-size.ts";
import { attempt, type Attempted, attemptTo } from "./retry/attempts.ts";
import type { Plan } from "./routing/plan.ts";
import { inNextFormat } from "./routing/spoken-formats.ts";
import type { Gateway, Incoming } from "./types.ts";

/**
 * The same as {@link exchangeTo}.
 * @throws GatewayError for a failure before the first byte of the answer
 */
export function exchange(incoming: Incoming, gateway: Gateway, deadline: Deadline): Promise<Opened> {
  return opened((receiver) => exchangeTo(incoming, gateway, deadline, receiver));
}

/** Runs the hooks before the first attempt, if there are any, and tries one target after another until one begins to answer. */
export function exchangeTo(
  incoming: Incoming,
  gateway: Gateway,
  deadline: Deadline,
  receiver: OpenedReceiver,
): void {
  incoming.call.asker = gateway.asker;
  if (!incoming.call.stream) return beginExchange(incoming, gateway, receiver);
  const opening = opened((inner) => beginExchange(incoming, gateway, inner));
  tell(holdHead(opening, deadline), receiver);
}

function beginExchange(incoming: Incoming, gateway: Gateway, receiver: OpenedReceiver): void {
  try {
    const finding = findNamed(incoming, gateway);
    if (finding) tell(exchangeAfter(finding, incoming, gateway), receiver);
    else if (hasEarlyHooks(gateway.hooks)) tell(exchangeAfterHooks(incoming, gateway), receiver);
    else attemptTo(attemptsOf(incoming, gateway), gateway, receiver);
  } catch (thrown) {
    receiver.failed(thrown);
  }
}

/** The attempts of the call's model. */
function attemptsOf(incoming: Incoming, gateway: Gateway): Attempts {
  const { call } = incoming;
  const attempts = new Attempts(call.servingModel, incoming, gateway);
  attempts.substitute = (model) => substitute(model, incoming, gateway);
  return attempts;
}

/** A class, because each call would pay for the closures of an object. */
class Attempts implements Attempted {
  readonly call: Call;
  readonly plan: Plan;
  readonly bytes: number;
  readonly #incoming: Incoming;
  readonly #gateway: Gateway;
  substitute?: Attempted["substitute"];

  /** @throws GatewayError for a model that no provider serves, or none that the caller may use */
  constructor(model: string, incoming: Incoming, gateway: Gateway) {
    const { call, stored, cached } = incoming;
    const whole = planIncoming(incoming, model, gateway.registry);
    this.call = call;
    const continued = stored ? stored.narrow(whole) : whole;
    this.plan = cached ? cached.narrow(continued) : continued;
    this.bytes = incoming.bytes.length;
    this.#incoming = incoming;
    this.#gateway = gateway;
  }

  affinity(): string {
    return affinityOf(this.#incoming);
  }

  size(): RequestSize {
    return sizeOf(this.#incoming);
  }

  open(running: Attempt, receiver: OpenedReceiver): void {
    new Opening(this.#incoming, running, this.#gateway, receiver).begin();
  }
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
    const attempted = new Attempts(model, incoming, gateway);
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
  if (call.parent) return call.parent.conversation?.() ?? "";
  return format.client.facts.sessionOf?.({ headers: withoutCredentials(call.headers), bytes, spanOf }) ?? "";
}

async function exchangeAfter(finding: Promise<void>, incoming: Incoming, gateway: Gateway): Promise<Opened> {
  await finding;
  if (hasEarlyHooks(gateway.hooks)) return exchangeAfterHooks(incoming, gateway);
  return attempt(attemptsOf(incoming, gateway), gateway);
}

async function exchangeAfterHooks(incoming: Incoming, gateway: Gateway): Promise<Opened> {
  const { call } = incoming;
  call.conversation = () => affinityOf(incoming);
  const plugin = await runEarlyHooks(incoming, gateway.hooks);
  if (call.abortReason) throw call.abortReason;
  if (plugin) return openPlugin(incoming, plugin, gateway);
  if (call.servingModel !== call.model) await prepareModel(call, call.servingModel, gateway.registry);
  return attempt(attemptsOf(incoming, gateway), gateway);
}

/** The answer of a plugin in place of a provider. There is no second attempt, and `request` hooks do not run. */
function openPlugin(incoming: Incoming, plugin: Target, gateway: Gateway): Promise<Opened> {
  const running = new Attempt(incoming.call, plugin);
  gateway.ledger.charge(running);
  const lane = new TranslatedLane(incoming, running, { ...gateway, hooks: [] });
  return opened((receiver) => new Opening(incoming, running, gateway, receiver).begin(lane));
}

/**
 * One attempt. When the provider refuses a part of the request that weir can leave out, or lacks the path of a format, weir
 * prepares the request anew and sends it again to the same host. It records the missing path after the next format answered.
 */
class Opening implements HeadReceiver {
  readonly #incoming: Incoming;
  readonly #running: Attempt;
  readonly #gateway: Gateway;
  /** Absent when it was told. */
  #receiver: OpenedReceiver | undefined;
  #lane!: Lane;
  /** The formats whose path the host lacks, and what it said in the first of them. */
  #missing: string[] | undefined;
  #firstRefusal: GatewayError | undefined;

  constructor(incoming: Incoming, running: Attempt, gateway: Gateway, receiver: OpenedReceiver) {
    this.#incoming = incoming;
    this.#running = running;
    this.#gateway = gateway;
    this.#receiver = receiver;
  }

  /** @param lane absent: what the attempt calls for */
  begin(lane?: Lane): void {
    try {
      this.#lane = lane ?? chooseLane(this.#incoming, this.#running, this.#gateway);
      const preparing = this.#lane.prepare();
      if (preparing instanceof Promise) this.#later(preparing, (prepared) => this.#send(prepared));
      else this.#send(preparing);
    } catch (thrown) {
      this.failed(thrown);
    }
  }

  #send(prepared: Prepared | undefined): void {
    if (!prepared) return this.#open(undefined);
    sendTo(prepared, this.#running, this);
    this.#gateway.sent?.(this.#running, this.#incoming);
  }

  head(response: UpstreamResponse): void {
    // A part of weir has failed after the request was sent.
    if (!this.#receiver) return void discard(response);
    try {
      if (!response.ok) return this.#later(this.#refused(response), () => this.begin(this.#lane));
      const adopting = adoptReported(response, this.#running, this.#gateway);
      if (adopting) this.#later(adopting, () => this.#open(response));
      else this.#open(response);
    } catch (thrown) {
      this.failed(thrown);
    }
  }

  /** @param response absent: a program answers */
  #open(response: UpstreamResponse | undefined): void {
    const opening = this.#lane.open(response, this.#gateway);
    if (opening instanceof Promise) this.#later(opening, (answer) => this.#begun(answer));
    else this.#begun(opening);
  }

  #begun(answer: Opened): void {
    if (answer.kind === "stream") this.#later(answer.source.begin(), () => this.#opened(answer));
    else this.#opened(answer);
  }

  #opened(answer: Opened): void {
    const { registry } = this.#gateway;
    for (const id of this.#missing ?? []) registry.noteMissingFormat(this.#running.target.deployment, id);
    this.#incoming.call.status = answer.status;
    this.#told()?.opened(answer);
  }

  failed(thrown: unknown): void {
    this.#told()?.failed(thrown);
  }

  #told(): OpenedReceiver | undefined {
    const receiver = this.#receiver;
    this.#receiver = undefined;
    return receiver;
  }

  /** Goes on with what a promise brings. */
  #later<Value>(pending: Promise<Value>, goOn: (value: Value) => void): void {
    const fail = (thrown: unknown) => this.failed(thrown);
    pending.then((value) => {
      try {
        goOn(value);
      } catch (thrown) {
        fail(thrown);
      }
    }, fail);
  }

  /** Decides how the request is sent again. @throws GatewayError if it is not */
  async #refused(response: UpstreamResponse): Promise<void> {
    const { format, below, stored } = this.#incoming;
    const running = this.#running;
    const refusal = await this.#lane.refusal(response);
    if (this.#lane.leavesOut(refusal)) return;
    if (!isMissingPath(refusal, running)) throw refusal;
    this.#firstRefusal ??= refusal;
    // The path below the usual one may be missing alone, and only one deployment has a stored answer.
    const hasOnlyThis = below !== undefined || stored?.pin !== undefined;
    const next = hasOnlyThis ? undefined : inNextFormat(running.target, format.id);
    // If the host serves none of its formats, the client gets what the host said in the first one.
    if (!next) throw this.#firstRefusal;
    (this.#missing ??= []).push(running.target.format);
    running.turnTo(next);
    this.#lane = chooseLane(this.#incoming, running, this.#gateway);
  }
}
