/** By how much the input of a target has exceeded what weir expected, so that the next estimate adds it. */
import type { CallRecord } from "../../ledger/record.ts";

export interface Margin {
  /** `provider/model`. */
  target: string;
  tokens: number;
}

export class Margins {
  readonly #tokens = new Map<string, number>();

  get size(): number {
    return this.#tokens.size;
  }

  load(margins: readonly Margin[]): void {
    for (const { target, tokens } of margins) this.#tokens.set(target, tokens);
  }

  all(): Margin[] {
    return [...this.#tokens].map(([target, tokens]) => ({ target, tokens }));
  }

  /** @returns the margins that have grown */
  learn(calls: readonly CallRecord[]): Margin[] {
    const grown = new Set<string>();
    for (const { attempts } of calls)
      for (const { provider, model, usage, expected } of attempts) {
        if (expected === undefined) continue;
        const excess = usage.input + usage.cacheRead + usage.cacheWrite - expected;
        const target = `${provider}/${model}`;
        if (excess <= (this.#tokens.get(target) ?? 0)) continue;
        this.#tokens.set(target, excess);
        grown.add(target);
      }
    return [...grown].map((target) => ({ target, tokens: this.#tokens.get(target)! }));
  }
}
