/** Masks the credentials of the providers that serve, and other secrets of the config, in all that the gateway writes. */
import { secretFilter } from "../gateway/delivery/redact.ts";

/** Shorter values would match ordinary words. UTF-16 units. */
const SHORTEST = 6;

export class Redactor {
  #filter: (text: string) => string = (text) => text;
  #more: { readonly masked: readonly string[] } = { masked: [] };
  /** What was made of the last list of values. */
  #known: { masked: readonly string[]; texts: readonly string[] } = { masked: [], texts: [] };

  /** From now on the credentials of these providers are masked. */
  use(providers: Parameters<typeof secretFilter>[0]): void {
    this.#filter = secretFilter(providers);
  }

  /** From now on these values are masked too. A list that has changed is another one. */
  also(more: { readonly masked: readonly string[] }): void {
    this.#more = more;
  }

  /** The text without credentials. */
  readonly hide = (text: string): string => {
    const { masked } = this.#more;
    if (masked !== this.#known.masked) this.#known = { masked, texts: spellings(masked) };
    const filtered = this.#filter(text);
    return this.#known.texts.reduce((hidden, value) => hidden.replaceAll(value, "***"), filtered);
  };
}

/** The values, and how JSON and URLs write them; the longest first, because a shorter one may be a part of it. */
function spellings(values: readonly string[]): string[] {
  const all = values.flatMap((value) => [
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(value.toWellFormed()),
  ]);
  return [...new Set(all)].filter(({ length }) => length >= SHORTEST).sort((a, b) => b.length - a.length);
}
