/** The corpus before a change, once, and after as many changes as are tried. */
import type { Facts } from "../../run/facts.ts";
import { baseSetup, type Setup } from "./base.ts";
import type { Change } from "./change.ts";
import { FaultyCopy } from "./copies.ts";
import { corpus, type TruthCall } from "./corpus.ts";
import { type Fake, startFake } from "./fake.ts";
import { observe, type Seen } from "./observe.ts";
import { OUTLINED, type Rehearsed, Rehearser } from "./rehearsed.ts";
import { type Cause, truthOf } from "./truth.ts";

export interface Tried {
  /** What the change alters, by the index of the call. */
  truth: readonly ReadonlySet<Cause>[];
  /** Absent if nothing is rehearsed. */
  rehearsed?: Rehearsed;
}

export class Trial {
  readonly calls: readonly TruthCall[];
  readonly #fake: Fake;
  readonly #base: Setup;
  readonly #old: readonly Seen[];
  readonly #rehearser: Rehearser | undefined;
  #copy: FaultyCopy | undefined;

  private constructor(
    calls: readonly TruthCall[],
    fake: Fake,
    base: Setup,
    old: readonly Seen[],
    rehearser: Rehearser | undefined,
  ) {
    this.calls = calls;
    this.#fake = fake;
    this.#base = base;
    this.#old = old;
    this.#rehearser = rehearser;
  }

  /** @param rehearses whether outlines are kept, and each change is rehearsed */
  static async start(most: number, seed: number, rehearses: boolean): Promise<Trial> {
    const calls = corpus(most, seed);
    const fake = startFake();
    const base = baseSetup(fake.url, "");
    let rehearser: Rehearser | undefined;
    const kept = rehearses ? { ...base, config: { ...base.config, rehearse: OUTLINED } } : base;
    const old = await observe(kept, calls, fake, {
      keep(state, ids) {
        if (rehearses) rehearser = new Rehearser(state, ids);
      },
    });
    await rehearser?.begin(base);
    return new Trial(calls, fake, base, old, rehearser);
  }

  /** Calls with an outline. */
  get outlined(): number {
    return this.#rehearser?.outlined ?? 0;
  }

  /** What became of a call before the change. */
  before(index: number): Seen {
    return this.#old[index]!;
  }

  /** What the rehearsal finds for the outlines without a change, by the index of the call. */
  get facts(): ReadonlyMap<number, Facts> {
    return this.#rehearser?.facts() ?? new Map<number, Facts>();
  }

  /** @throws Error if a gateway does not start with the change, or the rehearsal does not run */
  async of(change: Change): Promise<Tried> {
    const setup = structuredClone(this.#base);
    if (change.kind !== "fault") {
      change.apply(setup, this.#fake.url);
      return this.#tried(setup);
    }
    this.#copy ??= new FaultyCopy();
    return this.#copy.with(change, (root) => this.#tried(setup, root));
  }

  async #tried(setup: Setup, root?: string): Promise<Tried> {
    const now = await observe(setup, this.calls, this.#fake, root === undefined ? {} : { root });
    const truth = truthOf(this.#old, now);
    const rehearsed = await this.#rehearser?.rehearse(setup, root);
    return { truth, ...(rehearsed && { rehearsed }) };
  }

  /** Rehearses what is not changed. @param elsewhere in a process with a copy of the source @returns what is said to differ */
  async same(elsewhere: boolean): Promise<string[]> {
    this.#copy ??= new FaultyCopy();
    const rehearsed = await this.#rehearser?.rehearse(this.#base, elsewhere ? this.#copy.root : undefined);
    return this.calls.map(({ index }) => rehearsed?.what(index) ?? "").filter((what) => what !== "");
  }

  stop(): void {
    this.#copy?.remove();
    this.#rehearser?.remove();
    this.#fake.stop();
  }
}
