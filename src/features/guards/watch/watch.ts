/**
 * Watches from the keeper whether guards do their work: one that cannot judge, and one that has stopped. The second is told by the
 * config and the records of calls alone, because what has stopped does not report it.
 */
import { namesOf } from "../../../core/model-pattern.ts";
import type { Warning } from "../../../core/warning.ts";
import type { CallRecord } from "../../../ledger/record.ts";
import { isOfCaller, isOfModels, type Scope } from "../applies.ts";
import { guardFacts, type GuardFacts } from "../columns.ts";
import { PHASES } from "../declarations.ts";

/** A guard of the config. */
export interface Watched extends Scope {
  readonly name: string;
  /** What it does with a value, and what it finds. */
  readonly does: string;
  readonly finds: readonly string[];
  /** It looks at whole requests or answers, so that each call has something for it. */
  readonly judgesAll: boolean;
}

/** Calls for this time without a verdict are too many. Milliseconds. */
const SILENT_MS = 3_600_000;
/** A guard that could judge for this time is available. Milliseconds. */
const CALM_MS = 300_000;

interface State {
  guard: Watched;
  /** When the first call without a verdict ended. */
  silentFrom: number | undefined;
  /** Calls without a verdict. */
  silent: number;
  unavailableAt: number;
  unavailable: number;
  /** Warnings that go on. */
  readonly warned: Map<string, Warning>;
}

interface Options {
  warn(warning: Warning): void;
  /** Logs a sentence as a fault. */
  report(sentence: string): void;
  /** Name of a key by its id. */
  keyName(id: string): string;
}

export class GuardWatch {
  readonly #options: Options;
  readonly #states = new Map<string, State>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** The guards of the config that serves. */
  set guards(guards: readonly Watched[]) {
    const names = new Set(guards.map(({ name }) => name));
    for (const [name, state] of this.#states)
      if (!names.has(name)) {
        for (const condition of state.warned.keys()) this.#end(state, condition);
        this.#states.delete(name);
      }
    for (const guard of guards) {
      const known = this.#states.get(guard.name);
      if (known) known.guard = guard;
      else this.#states.set(guard.name, stateOf(guard));
    }
  }

  records(calls: readonly CallRecord[]): void {
    if (this.#states.size > 0) for (const call of calls) this.#record(call);
  }

  /** Called about once a second. @param now milliseconds since 1970 */
  tick(now: number): void {
    for (const state of this.#states.values()) {
      if (now - state.unavailableAt >= CALM_MS) {
        state.unavailable = 0;
        this.#end(state, "unavailable");
      }
      // Receivers may have come since.
      for (const warning of state.warned.values()) this.#options.warn(warning);
    }
  }

  #record(call: CallRecord): void {
    const verdicts = new Map(guardFacts.in(call)?.map((facts) => [facts.name, facts]));
    const at = call.startedAt + call.ms;
    for (const [name, state] of this.#states) {
      const facts = verdicts.get(name);
      if (facts && isUnavailable(facts)) this.#unavailable(state, at);
      if (facts && facts.verdict !== "not-inspected") this.#spoke(state);
      else if (facts || this.#isIts(call, state.guard)) this.#silent(state, call, at);
    }
  }

  /** Whether the guard should have judged a call: one that a model answered for its callers. */
  #isIts(call: CallRecord, guard: Watched): boolean {
    if (!guard.judgesAll) return false;
    const { key, path = "/", model, attempts } = call;
    const answered = attempts.find((attempt) => attempt.class === "answered");
    if (!answered) return false;
    const caller = key === undefined ? undefined : { name: this.#options.keyName(key), path };
    const { provider, model: served } = answered;
    const names = namesOf(provider, served, model);
    // The name of the client may be an alias of the operator.
    const target = { names, sure: names };
    return isOfCaller(guard, caller) && isOfModels(guard, [target]);
  }

  #spoke(state: State): void {
    state.silentFrom = undefined;
    state.silent = 0;
    this.#end(state, "silent");
  }

  #silent(state: State, { outcome }: CallRecord, at: number): void {
    // A call that broke off may have had nothing to judge.
    if (outcome !== "complete") return;
    const from = (state.silentFrom ??= at);
    state.silent++;
    if (at - from < SILENT_MS) return;
    const { name } = state.guard;
    this.#begin(state, "silent", {
      message: `the guard "${name}" has judged nothing for an hour: ${state.silent} calls went past it`,
      facts: { guard: name, calls: state.silent, since: new Date(from).toISOString() },
    });
  }

  #unavailable(state: State, at: number): void {
    const { name } = state.guard;
    state.unavailable++;
    state.unavailableAt = at;
    this.#begin(state, "unavailable", {
      message: `the guard "${name}" cannot judge calls`,
      facts: { guard: name, calls: state.unavailable },
    });
  }

  #begin(state: State, condition: string, said: Pick<Warning, "message" | "facts">): void {
    const { name } = state.guard;
    const isNew = !state.warned.has(condition);
    const warning: Warning = { event: "guard", condition, subject: name, isOver: false, ...said };
    state.warned.set(condition, warning);
    this.#options.warn(warning);
    if (isNew) this.#options.report(said.message);
  }

  #end({ guard, warned }: State, condition: string): void {
    const warning = warned.get(condition);
    if (!warning) return;
    warned.delete(condition);
    const message = `the guard "${guard.name}" judges calls again, or is no longer configured`;
    this.#options.warn({ ...warning, isOver: true, message });
  }
}

const stateOf = (guard: Watched): State => ({
  guard,
  ...{ silentFrom: undefined, silent: 0, unavailableAt: 0, unavailable: 0 },
  warned: new Map(),
});

const isUnavailable = ({ phases }: GuardFacts) => PHASES.some((phase) => phases[phase] === "unavailable");
