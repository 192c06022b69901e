/** The speed of a model beside the others of the same look: a slow moment of this machine or its line is one for all. */
import type { Observation } from "../observation.ts";
import type { RankSeries } from "../stats/series.ts";
import { BLOCK_MS, SPEEDS } from "./limits.ts";

type Speeds = { readonly [Speed in (typeof SPEEDS)[number]]: number | undefined };

/** With fewer other providers it is open which of them became faster or slower. */
const LEAST_OTHERS = 2;

/** Of each model: the logarithm of its speed over that of the middle one of the other providers. */
export function relativeSpeeds(look: readonly Observation[]): Speeds[] {
  return look.map((observation) => ({
    firstByteMs: relative(look, observation, "firstByteMs"),
    perSecond: relative(look, observation, "perSecond"),
  }));
}

function relative(
  look: readonly Observation[],
  { model, seen }: Observation,
  speed: (typeof SPEEDS)[number],
): number | undefined {
  const own = seen.speed[speed];
  const byProvider = Map.groupBy(look, (one) => providerOf(one.model));
  byProvider.delete(providerOf(model));
  // Several models of one provider are one witness.
  const others = [...byProvider.values()].flatMap((same) => {
    const values = same.flatMap((one) => one.seen.speed[speed] ?? []);
    return values.length === 0 ? [] : [Math.log(middle(values))];
  });
  if (own === undefined || others.length < LEAST_OTHERS) return undefined;
  return Math.log(own) - middle(others);
}

const providerOf = (model: string) => model.slice(0, model.indexOf("/"));

export function middle(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[at]! : (sorted[at - 1]! + sorted[at]!) / 2;
}

/** Gathers the values of a part of the day to one. */
export class Blocks {
  readonly series: RankSeries;
  /** Beginning of the last block in the series. Milliseconds since 1970. */
  lastAt = 0;
  #block = -1;
  #values: number[] = [];

  constructor(series: RankSeries) {
    this.series = series;
  }

  /** @returns whether a block has ended, and is in the series */
  add(at: number, value: number): boolean {
    const block = Math.floor(at / BLOCK_MS);
    const hasEnded = block !== this.#block && this.#values.length > 0;
    if (hasEnded) {
      this.series.push(middle(this.#values));
      this.lastAt = this.#block * BLOCK_MS;
      this.#values = [];
    }
    this.#block = block;
    this.#values.push(value);
    return hasEnded;
  }
}
