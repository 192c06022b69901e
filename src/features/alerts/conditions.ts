/** Conditions that begin and end: each is reported once when it begins, and once when it has been away for a while. */
import type { WallClock } from "../../core/wall-clock.ts";

/** A condition that comes back within this time has not ended. Milliseconds. */
const CALM_MS = 60_000;

interface Condition {
  /** Absent while it waits to be reported. */
  toldAt: number | undefined;
  cancel: (() => void) | undefined;
}

export interface ConditionEvents {
  begins(): void;
  /** @param ms how long it lasted */
  ends(ms: number): void;
}

export class Conditions {
  readonly #clock: WallClock;
  readonly #known = new Map<string, Condition>();

  constructor(clock: WallClock) {
    this.#clock = clock;
  }

  /** The names of those that are reported and have not ended, also while they are away. */
  get names(): readonly string[] {
    return [...this.#known.keys()];
  }

  /** It is so now. @param afterMs it is reported if it is still so after this time */
  holds(name: string, { begins }: Pick<ConditionEvents, "begins">, afterMs = 0): void {
    const known = this.#known.get(name);
    if (known) {
      // An end that was near is called off.
      if (known.toldAt !== undefined) known.cancel = void known.cancel?.();
      return;
    }
    const condition: Condition = { toldAt: undefined, cancel: undefined };
    const tell = () => {
      condition.toldAt = this.#clock.wall();
      condition.cancel = undefined;
      begins();
    };
    this.#known.set(name, condition);
    if (afterMs === 0) tell();
    else condition.cancel = this.#clock.after(afterMs, tell);
  }

  /** It is not so now. */
  isAway(name: string, { ends }: Pick<ConditionEvents, "ends">): void {
    const known = this.#known.get(name);
    if (!known) return;
    const { toldAt } = known;
    if (toldAt === undefined) {
      known.cancel?.();
      this.#known.delete(name);
      return;
    }
    const away = this.#clock.wall();
    known.cancel ??= this.#clock.after(CALM_MS, () => {
      this.#known.delete(name);
      ends(away - toldAt);
    });
  }

  close(): void {
    for (const { cancel } of this.#known.values()) cancel?.();
    this.#known.clear();
  }
}
