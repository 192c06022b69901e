/** The arithmetic of what-if and of invoices: what is printed adds up. */

const CENT = 10_000_000;

/** An amount below this is printed exactly: in cents nothing would be left of it. Nano-dollars. */
const SMALL = 100 * CENT;

export interface Comparison {
  now: number;
  then: number;
  /** `then` without `now`, of the amounts as they are printed. */
  difference: number;
  /** Decimals that all three amounts are printed with. */
  places: number;
}

/** Amounts from a dollar on are compared in cents; smaller ones to a hundredth of a cent, or exactly if that would be nothing. */
export function compare(now: number, then: number): Comparison {
  const largest = Math.max(now, then);
  const places = largest >= SMALL || largest === 0 ? 2 : largest >= CENT ? 4 : 9;
  const unit = 10 ** (9 - places);
  const [left, right] = [Math.round(now / unit) * unit, Math.round(then / unit) * unit];
  return { now: left, then: right, difference: right - left, places };
}

/** A model without a price, and how many calls used it. */
export interface Missing {
  provider: string;
  model: string;
  calls: number;
}

/** A number of models of one provider from which one pattern prices them all. */
const MANY = 4;

/** Lines for weir.yaml that would price what has no price. Each price is a question mark, which weir refuses. */
export function priceYaml(missing: readonly Missing[]): string {
  const providers = Map.groupBy(missing, ({ provider }) => provider);
  const lines = [...providers].flatMap(([provider, models]) =>
    models.length >= MANY
      ? [`  "${provider}/*": {input: ?, output: ?}`]
      : models.map(({ model }) => `  ${JSON.stringify(`${provider}/${model}`)}: {input: ?, output: ?}`),
  );
  return ["prices:", ...lines].join("\n");
}

/** A month before the present one, as invoices name it: `2026-10`. */
export function monthBefore(now: number, months = 1): string {
  const date = new Date(now);
  const first = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - months, 1));
  return first.toISOString().slice(0, 7);
}

/** The first millisecond of a month and of the next one, UTC. @returns undefined for text that is no month */
export function monthRange(text: string): { from: number; to: number } | undefined {
  const match = /^(20\d\d)-(0[1-9]|1[0-2])$/.exec(text);
  if (!match) return undefined;
  const [year, month] = [Number(match[1]), Number(match[2])];
  return { from: Date.UTC(year, month - 1), to: Date.UTC(year, month) };
}

/** The date of the price book from the sources of prices: `litellm 2026-11-20`. */
export function bookDate(sources: readonly string[]): string | undefined {
  const dates = sources.flatMap((source) => /\b20\d\d-\d\d-\d\d\b/.exec(source)?.[0] ?? []);
  return dates.toSorted().at(-1);
}
