/**
 * Sessions with models: connections over which both sides send events until one of them leaves. Opening one is a call, with the plan,
 * the fallbacks and the limits of every call. Each answer inside of it is a call too, a {@link Turn}: it has its hold, its charge and
 * its record in the books.
 */
import { Attempt, Call, type CallRoute } from "../core/call.ts";
import type { KindId } from "../core/does.ts";
import { GatewayError } from "../core/error.ts";
import { NO_USAGE, type Usage } from "../core/events.ts";
import type { Ledger, RequestSize } from "../core/ledger.ts";
import type { Principal } from "../core/principal.ts";
import type { Target } from "../core/provider.ts";
import { prepareCall, planFor } from "./access.ts";
import { assertCurrent } from "./credentials.ts";
import type { Watcher } from "./delivery/clock.ts";
import { Deadline } from "./delivery/deadline.ts";
import { upstreamHeaders } from "./lanes/send.ts";
import { earlyViewOf } from "./plugins/call-view.ts";
import { runAdmitHooks } from "./plugins/early-hooks.ts";
import { attempt } from "./retry/attempts.ts";
import { authorizedHeaders } from "./routing/authorizer.ts";
import type { Gateway } from "./types.ts";

/** Who asks for a session, and for which model. */
export interface SessionAsk {
  readonly kind: KindId;
  /** What the client speaks. */
  readonly dialect: string;
  readonly model: string;
  readonly principal: Principal | undefined;
  readonly route: CallRoute;
  readonly headers: Headers;
  /** Longest time of the session. Milliseconds. */
  readonly mostMs: number;
  /**
   * Connects to the host or program of an attempt. Called for one target after another until it resolves.
   * @throws GatewayError for a target that does not take the session
   */
  connect(attempt: Attempt, address: SessionAddress): Promise<void>;
}

/** Where a host serves sessions. Empty for a program. */
export interface SessionAddress {
  /** `wss:` or `ws:`, as the base URL has `https:` or `http:`. */
  readonly url: string;
  /** With the credential. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What opens sessions. */
export interface SessionOpening {
  /** Of the session. */
  readonly id: string;
  readonly gateway: Gateway;
  /** Called once a second for each session. @throws GatewayError for a caller that is gone */
  stillMay(this: void, principal: Principal | undefined): void;
}

/** What one answer may use at most. */
export interface TurnSize {
  /** Tokens of what the model reads. */
  readonly input: number;
  /** Tokens; absent: the limit of the model. */
  readonly output?: number;
  /** The same in other units, where the price is one of these and not of tokens. */
  readonly units?: RequestSize["units"] | undefined;
  /** The provider may run tools for it. */
  readonly hasServerTools?: boolean;
  /** Another model of the same provider, which works beside the one of the session. */
  readonly model?: string;
}

const NO_TEXT: RequestSize["text"] = { words: 0, digits: 0, signs: 0, scripts: 0 };

/** @throws GatewayError if no target takes the session, and for what the caller may not do */
export async function openSession(ask: SessionAsk, opening: SessionOpening): Promise<Session> {
  const { id, gateway, stillMay } = opening;
  const { principal, model, kind, dialect, route, headers, mostMs } = ask;
  assertCurrent(principal);
  const call = new Call(id, kind, headers);
  call.route = route;
  if (principal) call.principal = principal;
  call.model = model;
  call.asker = gateway.asker;
  const deadline = new Deadline(call, gateway.clock, gateway.timeouts);
  call.release = () => deadline.stop();
  try {
    const preparing = prepareCall(call, gateway.registry);
    if (preparing) await preparing;
    const view = earlyViewOf(call, () => undefined);
    await runAdmitHooks(view, gateway.hooks);
    if (call.abortReason) throw call.abortReason;
    const attempted = {
      ...{ call, bytes: 0, size: () => sizeOf({ input: 0, output: 0 }), affinity: () => id },
      plan: planFor(call, call.servingModel, gateway.registry, dialect, kind),
      open: (running: Attempt, receiver: Parameters<Parameters<typeof attempt>[0]["open"]>[1]) => {
        connect(ask, running).then(
          () => receiver.opened({ kind: "json", status: 101, headers: {}, body: "" }),
          (thrown: unknown) => receiver.failed(thrown),
        );
      },
    };
    // Only answers cost something: a session by itself holds nothing and counts for no limit.
    await attempt(attempted, { ...gateway, ledger: withoutHolds(gateway.ledger) });
  } catch (thrown) {
    const error = call.abortReason ?? GatewayError.from(thrown);
    gateway.settler.failed(call, error, error.status);
    throw error;
  }
  const running = call.attempt!;
  running.firstByteAt = performance.now();
  running.usage = { ...NO_USAGE, known: "final" };
  deadline.stop();
  const watch = new SessionWatch(call, mostMs, stillMay);
  gateway.clock.add(watch);
  call.release = () => gateway.clock.remove(watch);
  return new Session(call, gateway);
}

function withoutHolds(ledger: Ledger): Ledger {
  return {
    admit: (running) => ledger.charge(running),
    charge: (running) => ledger.charge(running),
    settle: (running) => ledger.settle(running),
    close: (call) => ledger.close(call),
  };
}

async function connect(ask: SessionAsk, running: Attempt): Promise<void> {
  const { target } = running;
  if (target.substitute) running.reportLoss("substituted", "model", target.reason);
  running.wasSent = true;
  if (target.lane === "generated") return ask.connect(running, { url: "", headers: {} });
  const { "content-type": _type, accept: _accept, ...headers } = upstreamHeaders(target, {}, false);
  const { authorizer } = target.deployment;
  const request = { method: "GET" as const, url: target.url, headers, body: [], stop: running.stop };
  const signed = authorizer ? await authorizedHeaders(request, authorizer) : headers;
  return ask.connect(running, { url: target.url.replace(/^http/, "ws"), headers: signed });
}

function sizeOf({ input, output, units, hasServerTools = false }: TurnSize): RequestSize {
  return {
    ...{
      text: NO_TEXT,
      structure: 0,
      mediaTokens: Math.ceil(input),
      hasTools: false,
      hasServerTools,
      choices: 1,
    },
    ...(output !== undefined && { maxTokens: output }),
    ...(units && { units }),
  };
}

/** How often it is looked whether a caller is gone. Milliseconds. */
const CHECK_MS = 1_000;

/** Ends a session that lasts too long, or whose credential has expired. */
class SessionWatch implements Watcher {
  place: number | undefined = undefined;
  #checksAt = 0;

  constructor(
    readonly call: Call,
    private readonly mostMs: number,
    private readonly stillMay: SessionOpening["stillMay"],
  ) {}

  tick(now: number): void {
    const { call, mostMs } = this;
    if (now - call.startedAt > mostMs)
      return this.end(
        new GatewayError("timeout", `The session took longer than ${mostMs / 1000} s.`, {
          code: "timeout",
        }),
      );
    if (now < this.#checksAt) return;
    this.#checksAt = now + CHECK_MS;
    try {
      assertCurrent(call.principal);
      this.stillMay(call.principal);
    } catch (thrown) {
      this.end(GatewayError.from(thrown));
    }
  }

  end(reason: GatewayError): void {
    this.call.abort(reason);
  }
}

/** An open session. It aborts by {@link Call.stop}: when the key is revoked, the time is over or weir stops. */
export class Session {
  readonly #targets = new Map<string, Target>();

  constructor(
    readonly call: Call,
    readonly gateway: Gateway,
  ) {}

  /** Who serves it. */
  get target(): Target {
    return this.call.attempt!.target;
  }

  /**
   * Holds what one answer may cost at most.
   * @throws LedgerRefusal if a budget, a limit or an unknown price refuses it
   */
  async turn(size: TurnSize): Promise<Turn> {
    const { gateway } = this;
    const { id, principal } = this.call;
    assertCurrent(principal);
    const running = this.#begin(size.model);
    const { call } = running;
    try {
      const fitting = sizeOf(this.#pricesUnits(running, size) ? size : { ...size, units: undefined });
      await gateway.ledger.admit(running, { bytes: 0, size: () => fitting, affinity: () => id });
    } catch (thrown) {
      // Nothing is held, so that there was no attempt.
      call.attempt = undefined;
      const error = GatewayError.from(thrown);
      gateway.settler.failed(call, error, error.status);
      throw error;
    }
    call.attempts.push(running);
    return new Turn(running, gateway);
  }

  /** Whether a price of the model is one of these units. */
  pricesUnits(units: NonNullable<TurnSize["units"]>): boolean {
    const attempt = new Attempt(new Call("", this.call.format, this.call.headers), this.target);
    return this.#pricesUnits(attempt, { input: 0, output: 0, units });
  }

  #pricesUnits(attempt: Attempt, { units }: TurnSize): boolean {
    if (!units) return false;
    const size = () => sizeOf({ input: 0, output: 0, units });
    const cost = this.gateway.ledger.bound?.(attempt, { size }, 1).cost;
    return cost !== undefined && cost > 0;
  }

  /** An answer that nothing was held for: it is charged all the same. */
  unheld(model?: string): Turn {
    const running = this.#begin(model);
    this.gateway.ledger.charge(running);
    running.call.attempts.push(running);
    return new Turn(running, this.gateway);
  }

  #begin(model: string | undefined): Attempt {
    const parent = this.call;
    const call = new Call(`${parent.id}.${++parent.asked}`, parent.format, parent.headers, parent);
    if (parent.principal) call.principal = parent.principal;
    if (parent.route) call.route = parent.route;
    call.model = model ?? parent.model;
    return new Attempt(call, this.#targetOf(model));
  }

  /** Writes the record of the session itself, which has no cost. @param error why it failed */
  end(error?: GatewayError): void {
    const { call, gateway } = this;
    if (call.outcome) return;
    if (error) gateway.settler.failed(call, error, 101);
    else gateway.settler.complete(call, 101);
  }

  #targetOf(model: string | undefined): Target {
    if (model === undefined) return this.target;
    let found = this.#targets.get(model);
    if (!found) this.#targets.set(model, (found = { ...this.target, model }));
    return found;
  }
}

/** One answer in a session. Exactly one of its endings is called. */
export class Turn {
  #beganAt: number | undefined;

  constructor(
    readonly attempt: Attempt,
    private readonly gateway: Pick<Gateway, "settler">,
  ) {}

  get call(): Call {
    return this.attempt.call;
  }

  get isOver(): boolean {
    return this.call.outcome !== undefined;
  }

  /** The provider may charge from now on. */
  sent(): void {
    this.attempt.wasSent = true;
  }

  /** The provider works on it. @param id its name for the answer */
  began(id?: string): void {
    this.sent();
    this.#beganAt ??= performance.now();
    if (id !== undefined) this.attempt.upstreamRequestId = id;
  }

  /** @param usage as the provider counted it */
  complete(usage: Usage): void {
    this.sent();
    this.attempt.usage = { ...usage, known: "final" };
    this.attempt.firstByteAt = this.#beganAt ?? performance.now();
    this.gateway.settler.complete(this.call, 200);
  }

  /** The provider refused it and charges nothing. */
  refused(error: GatewayError): void {
    this.sent();
    this.attempt.upstreamStatus = error.status;
    this.gateway.settler.failed(this.call, error, error.status);
  }

  /** It was cut: the books assume what it may have cost. Without {@link sent} it costs nothing. */
  cut(error: GatewayError): void {
    if (this.attempt.wasSent && this.attempt.usage === NO_USAGE) this.attempt.stop.abort(error);
    this.gateway.settler.failed(this.call, error, error.status);
  }
}
