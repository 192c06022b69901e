/**
 * Experience with targets that count more input than it expected: by what factor the next estimate is raised. Factors
 * are kept for each kind of text, so that one odd prompt says nothing of others; they are bounded, and their excess halves
 * each day.
 */
import { TEXT_KINDS } from "../core/tokens/most-tokens.ts";

/** Kinds of text; images, documents and audio; what a provider adds for tools, and to each request. */
export const MARGIN_KINDS = [...TEXT_KINDS, "media", "tools", "frame"] as const;
export type MarginKind = (typeof MARGIN_KINDS)[number];

/** Tokens of a request by these kinds. */
export type Parts = Readonly<Record<MarginKind, number>>;

export interface Margin {
  /** `provider/model`. */
  target: string;
  kind: MarginKind;
  /** By what a part of this kind is multiplied. More than 1, at most {@link MOST}. */
  factor: number;
}

/** The largest factors. Hosts differ in what they add to each request: with the largest factor 1,024 tokens. */
export const MOST: Parts = { words: 2, digits: 2, signs: 2, scripts: 2, media: 2, tools: 2, frame: 16 };

/** A kind has no say in a request of which it is a smaller share. */
const LEAST_SHARE = 0.25;
/** The excess over 1 halves in this time. Milliseconds. */
const HALF_LIFE_MS = 86_400_000;

export function isMarginKind(word: string): word is MarginKind {
  return Object.hasOwn(MOST, word);
}

/**
 * The margins that would have sufficed for a request.
 * @param parts what was expected @param actual tokens that the provider counted @returns none if it counted no more
 */
export function missed(parts: Parts, actual: number): Omit<Margin, "target">[] {
  const sum = sumOf(parts);
  if (actual <= sum) return [];
  const large = MARGIN_KINDS.filter((kind) => parts[kind] >= sum * LEAST_SHARE);
  const concerned = large.reduce((tokens, kind) => tokens + parts[kind], 0);
  const factor = 1 + (actual - sum) / concerned;
  return large.map((kind) => ({ kind, factor: Math.min(factor, MOST[kind]) }));
}

export function sumOf(parts: Parts): number {
  return MARGIN_KINDS.reduce((sum, kind) => sum + parts[kind], 0);
}

interface Learned {
  factor: number;
  /** Milliseconds since 1970. */
  at: number;
}

export class Margins {
  readonly #now: () => number;
  readonly #targets = new Map<string, Map<MarginKind, Learned>>();

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  get isEmpty(): boolean {
    return this.#targets.size === 0;
  }

  /** @returns whether it is larger than what is left of the earlier one */
  learn({ target, kind, factor }: Margin, at = this.#now()): boolean {
    if (!(factor > 1) || !isMarginKind(kind)) return false;
    const bounded = Math.min(factor, MOST[kind]);
    const known = this.#targets.get(target);
    const before = known?.get(kind);
    if (before && factorAt(before, at) >= bounded) return false;
    if (known) known.set(kind, { factor: bounded, at });
    else this.#targets.set(target, new Map([[kind, { factor: bounded, at }]]));
    return true;
  }

  /** The tokens to add to what is expected of a target. */
  of(target: string, parts: Parts): number {
    const known = this.#targets.get(target);
    if (!known) return 0;
    let sum = 0;
    for (const [kind, learned] of known) sum += parts[kind] * (factorAt(learned, this.#now()) - 1);
    return Math.ceil(sum);
  }

  all(): Margin[] {
    return [...this.#targets].flatMap(([target, known]) =>
      [...known].map(([kind, learned]) => ({ target, kind, factor: factorAt(learned, this.#now()) })),
    );
  }
}

function factorAt({ factor, at }: Learned, now: number): number {
  return 1 + (factor - 1) * 0.5 ** (Math.max(0, now - at) / HALF_LIFE_MS);
}
