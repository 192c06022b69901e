/**
 * Work that a part of weir does besides answers of models, such as a call of a tool. It is a call of its own, with a hold before it
 * begins, a settlement when it ends, a record in the books and a line in the log.
 */
import type { AskAnswer, AskRequest } from "../core/ask.ts";
import { Attempt, Call, type CallRoute } from "../core/call.ts";
import { GatewayError } from "../core/error.ts";
import { NO_USAGE, type Units } from "../core/events.ts";
import type { Principal } from "../core/principal.ts";
import type { Admitted, Ledger, RequestSize } from "../core/ledger.ts";
import type { Target } from "../core/provider.ts";
import type { Noted } from "../core/slot.ts";
import type { Stop } from "../core/stop.ts";
import type { TraceContext } from "../core/trace-context.ts";
import { assertCurrent } from "./credentials.ts";
import type { Clock } from "./delivery/clock.ts";
import { Deadline } from "./delivery/deadline.ts";
import { type CallObserver, Settler } from "./delivery/settle.ts";
import type { Gateway } from "./types.ts";

/** Who pays for work: the caller of a call, or a caller by itself. */
export interface Payer {
  /** Absent: no key is charged; budgets on everything count it all the same. */
  readonly principal?: Principal;
}

/** A piece of work, and its price. */
export interface Work<Value> {
  /** Budgets, prices and reports have `by` as the provider and `name` as the model: `mcp`, `github__search_code`. */
  readonly by: string;
  readonly name: string;
  /** Where it is done; it stands in place of the deployment. Default: `by`. */
  readonly at?: string;
  readonly payer: Payer;
  /** The call for which it is done: the work stops with it. It pays only if it is the payer too. */
  readonly parent?: Call;
  /** The most that it uses, by unit. A hard budget holds the price of all before the work begins. */
  readonly units: Units;
  /** Dollars a unit; default: the section `prices` of the config. */
  readonly price?: Units;
  /** How the work came to weir, for traces. */
  readonly route?: CallRoute;
  /** Headers of the request for it, by which it belongs to the trace of its client. Work for a call belongs to the trace of that. */
  readonly headers?: Headers;
  /** Longest time. Milliseconds. */
  readonly timeoutMs: number;
  /** Does it. What it throws, the caller gets. */
  run(running: RunningWork): Promise<Value>;
}

/** Work as the code that does it sees it. */
export interface RunningWork {
  /** Id of its call. */
  readonly id: string;
  /** Aborts when the key is revoked, the time is over, the parent has ended or weir stops. */
  readonly stop: Stop;
  /** Takes the values of columns of its record. */
  readonly record: Noted;
  /**
   * Notes what was used; the last note counts. Without one, all units count as used: if `run` throws, as an assumption, because
   * the work may have been done.
   */
  used(units: Units): void;
  /** Asks a model for the caller, as a plugin does: a call of its own below this one, which ends with it. @throws GatewayError */
  ask(request: AskRequest): Promise<AskAnswer>;
  /** The context for who does the work: its spans are below that of the work. @returns undefined: the trace is not recorded */
  trace(): TraceContext | undefined;
}

type Serving = Pick<Gateway, "asker" | "traceContext">;

/** Does work for parts of weir. */
export class Works {
  readonly #settler: Settler;
  /** By name: the ledger remembers for each object which budgets count it. */
  readonly #targets = new Map<string, Target>();
  readonly #running = new Set<Call>();

  constructor(
    private readonly parts: {
      readonly clock: Clock;
      readonly ledger: Ledger;
      createId(this: void): string;
      /** The gateway of the config that serves now. */
      gateway(this: void): Serving;
      /** Called with each call after it is booked. */
      observe: CallObserver;
      onFault(this: void, fault: unknown): void;
    },
  ) {
    const { ledger, observe, onFault } = parts;
    this.#settler = new Settler([(call) => ledger.close(call), observe], onFault);
  }

  /** @throws GatewayError if a budget, a limit or an unknown price refuses the work, or it was stopped; and what `run` throws */
  async do<Value>(work: Work<Value>): Promise<Value> {
    assertUnits(work.units);
    const { parent } = work;
    if (parent?.stop.reason) throw parent.stop.reason;
    assertCurrent(work.payer.principal);
    const call = this.#begin(work);
    try {
      const attempt = await this.#admit(call, work);
      const value = await stoppable(work.run(running(attempt, this.parts.gateway)), call);
      attempt.firstByteAt = performance.now();
      if (attempt.usage === NO_USAGE) note(attempt, work.units);
      this.#settler.complete(call, 200);
      return value;
    } catch (thrown) {
      const error = call.abortReason ?? GatewayError.from(thrown);
      this.#settler.failed(call, error, error.status);
      throw call.abortReason ?? thrown;
    }
  }

  /** Stops work that goes on without a client, and waits for its record. */
  async end(reason: GatewayError): Promise<void> {
    for (const call of this.#running) call.abort(reason);
    const until = performance.now() + END_MS;
    while (this.#running.size > 0 && performance.now() < until) await Bun.sleep(1);
  }

  #begin(work: Work<unknown>): Call {
    const { parent, payer, name, timeoutMs, route, headers = new Headers() } = work;
    const id = parent ? `${parent.id}.${++parent.asked}` : this.parts.createId();
    const call = new Call(id, FORMAT, headers, parent);
    call.principal = payer.principal;
    call.model = name;
    if (route) call.route = route;
    const deadline = new Deadline(call, this.parts.clock, timeoutsOf(timeoutMs));
    (parent && (parent.children ??= new Set()))?.add(call);
    this.#running.add(call);
    call.release = () => {
      deadline.stop();
      this.#running.delete(call);
      parent?.children?.delete(call);
    };
    return call;
  }

  async #admit(call: Call, { by, at = by, name, units, price }: Work<unknown>): Promise<Attempt> {
    const attempt = new Attempt(call, this.#targetOf(by, at, name));
    const admitted: Admitted = {
      ...{ bytes: 0, size: () => NO_SIZE, affinity: () => "" },
      work: { units, ...(price && { price }) },
    };
    try {
      await this.parts.ledger.admit(attempt, admitted);
    } catch (thrown) {
      // Nothing is held, so that there was no attempt.
      call.attempt = undefined;
      throw thrown;
    }
    call.attempts.push(attempt);
    if (call.abortReason) throw call.abortReason;
    attempt.wasSent = true;
    return attempt;
  }

  #targetOf(by: string, at: string, name: string): Target {
    const key = JSON.stringify([by, at, name]);
    let found = this.#targets.get(key);
    if (found) return found;
    if (this.#targets.size >= MAX_TARGETS) this.#targets.clear();
    const deployment = { name: at, baseUrl: "", credentials: {}, weight: 1, priority: 0 };
    const provider = { name: by, deployments: [deployment], source: "built-in", patterns: [] };
    found = { provider, deployment, model: name, lane: "generated", format: "", url: "", reason: "work" };
    this.#targets.set(key, found);
    return found;
  }
}

/** Names the format of such calls in the log and the books. */
const FORMAT = "work";
/** Longest wait for the records of work that was stopped. Milliseconds. */
const END_MS = 1_000;
/** Most targets that are remembered. */
const MAX_TARGETS = 1_000;

const NO_SIZE: RequestSize = {
  ...{ text: { words: 0, digits: 0, signs: 0, scripts: 0 }, structure: 0, mediaTokens: 0 },
  ...{ hasTools: false, hasServerTools: false, maxTokens: 0, choices: 1 },
};

function timeoutsOf(ms: number) {
  return {
    ...{ connectMs: ms, firstByteMs: ms, gapMs: ms, totalMs: ms },
    ...{ heartbeatMs: ms, holdMs: ms, readMs: ms },
  };
}

function running(attempt: Attempt, gateway: () => Serving): RunningWork {
  const { call } = attempt;
  return {
    ...{ id: call.id, stop: call.stop, record: call },
    used(units) {
      assertUnits(units);
      note(attempt, units);
    },
    ask: async (request) => gateway().asker.ask(request, call, call.stop),
    trace: () => gateway().traceContext?.(call),
  };
}

function note(attempt: Attempt, units: Units): void {
  attempt.usage = { ...NO_USAGE, units: { ...units }, known: "final" };
}

/** Rejects with the reason when the call is stopped, also if the work goes on. */
async function stoppable<Value>(work: Promise<Value>, call: Call): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stopped = () => reject(call.stop.reason!);
  if (call.stop.reason) stopped();
  call.stop.addEventListener("abort", stopped);
  try {
    return await Promise.race([work, promise]);
  } finally {
    call.stop.removeEventListener("abort", stopped);
  }
}

/** The arithmetic of charges is exact for whole numbers only. */
function assertUnits(units: Units): void {
  for (const unit in units)
    if (!Number.isSafeInteger(units[unit]) || units[unit]! < 0)
      throw new Error(`work uses a whole number of the unit ${unit}, but has ${units[unit]}`);
}
