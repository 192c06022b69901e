/**
 * Divides the input tokens and the charge of a call among its tools and the rest. All sums are exact: a part gets what lies between
 * two places of the whole, and each place is rounded once.
 */
import type { Usage } from "../../../core/events.ts";
import type { Charge, PriceRule } from "../../../ledger/charge.ts";
import type { Nano } from "../../../ledger/money.ts";
import { addBuckets, factorFor } from "../../../ledger/prices/price.ts";

/** Amounts by what a provider did with the tokens: tokens, or nano-dollars. */
export interface Classes {
  uncached: number;
  write: number;
  read: number;
}

export const CLASSES = ["uncached", "write", "read"] as const satisfies readonly (keyof Classes)[];

export const noClasses = (): Classes => ({ uncached: 0, write: 0, read: 0 });

export const sumOf = ({ uncached, write, read }: Classes): number => uncached + write + read;

export function addClasses(to: Classes, more: Classes): void {
  for (const one of CLASSES) to[one] += more[one];
}

type Counts = Pick<Usage, "input" | "cacheRead" | "cacheWrite">;

/** The tokens of a prompt by their places. What was read from a cache is its beginning, and what was written follows. */
export class PromptTokens {
  readonly #bytes: number;
  readonly #total: number;
  readonly #readTo: number;
  readonly #writtenTo: number;

  /** @param bytes size of the whole prompt */
  constructor(bytes: number, { input, cacheRead, cacheWrite }: Counts) {
    this.#bytes = bytes;
    this.#total = input + cacheRead + cacheWrite;
    this.#readTo = cacheRead;
    this.#writtenTo = cacheRead + cacheWrite;
  }

  /** The tokens between two places. Bytes from the beginning of the prompt. */
  between(from: number, to: number): Classes {
    const [first, end] = [this.#at(from), this.#at(to)];
    const until = (bound: number) => Math.min(Math.max(bound, first), end);
    const [readTo, writtenTo] = [until(this.#readTo), until(this.#writtenTo)];
    return { read: readTo - first, write: writtenTo - readTo, uncached: end - writtenTo };
  }

  #at(place: number): number {
    if (this.#bytes === 0) return 0;
    return Math.min(this.#total, Math.round((place / this.#bytes) * this.#total));
  }
}

/** The charge of an attempt by what it was for. Nano-dollars; the sum is the charge. */
export interface ChargeParts extends Classes {
  /** Output, searches, and everything that is not known to be input. */
  rest: Nano;
}

const CLASS_OF: Readonly<Record<string, keyof Classes>> = {
  ...{ input: "uncached", audioIn: "uncached", imageIn: "uncached" },
  ...{ cacheRead: "read", cacheReadAudio: "read", cacheWrite: "write", cacheWrite1h: "write" },
};

/** @param rule the prices by which it was charged; absent: all of it is `rest` */
export function partsOf({ cost }: Pick<Charge, "cost">, usage: Usage, rule?: PriceRule): ChargeParts {
  if (!rule || cost === 0) return { ...noClasses(), rest: cost };
  const pico = { ...noClasses(), rest: 0 };
  const factor = factorFor(usage, rule);
  addBuckets(usage, rule, {
    add: (tokens, price, bucket) =>
      void (pico[CLASS_OF[bucket] ?? "rest"] += tokens * Math.round(price * factor)),
  });
  const known = sumOf(pico) + pico.rest;
  // Where the provider names the amount, the prices say how it is divided; else the prices are what was paid.
  const isWhole = known > 0 && (isNamed(usage, cost) || known / 1000 > cost + 1);
  const scale = isWhole ? cost / known : 1 / 1000;
  const parts = { ...noClasses(), rest: 0 };
  let [before, exact] = [0, 0];
  for (const one of CLASSES) {
    exact += pico[one] * scale;
    const place = Math.min(cost, Math.round(exact));
    parts[one] = place - before;
    before = place;
  }
  parts.rest = cost - before;
  return parts;
}

const isNamed = ({ reported }: Usage, cost: Nano) => reported === cost;

/** Divides the charge of each class among its tokens, in the order in which they are taken. The last token gets what is left. */
export class TokenPrices {
  readonly #tokens: Classes;
  readonly #cost: Classes;
  readonly #taken = noClasses();

  /** @param tokens all of the call @param cost of all of them, in nano-dollars */
  constructor(tokens: Classes, cost: Classes) {
    this.#tokens = tokens;
    this.#cost = cost;
  }

  /** The cost of the next tokens. Nano-dollars. */
  take(tokens: Classes): Classes {
    const cost = noClasses();
    for (const one of CLASSES) {
      const before = this.#place(one);
      this.#taken[one] += tokens[one];
      cost[one] = this.#place(one) - before;
    }
    return cost;
  }

  #place(one: keyof Classes): Nano {
    const all = this.#tokens[one];
    return all === 0 ? 0 : Math.round(this.#cost[one] * (this.#taken[one] / all));
  }
}
