/** Finds many known texts in one pass, the longest first. */

export interface Hit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** As many are searched one by one in texts that have none of them. */
const FEW = 8;

export class Needles {
  readonly #all: readonly string[];
  /** By their first two units. */
  readonly #by = new Map<number, string[]>();
  /** Of one unit. */
  readonly #single = new Set<string>();

  constructor(texts: Iterable<string>) {
    this.#all = [...texts];
    for (const text of this.#all) {
      if (text.length === 1) this.#single.add(text);
      if (text.length < 2) continue;
      const first = pairAt(text, 0);
      const list = this.#by.get(first);
      if (list) list.push(text);
      else this.#by.set(first, [text]);
    }
    for (const list of this.#by.values()) list.sort((one, other) => other.length - one.length);
  }

  /** In the order of the text; none overlaps another one. */
  find(text: string): Hit[] {
    const hits: Hit[] = [];
    if (this.#all.length <= FEW && !this.#all.some((needle) => text.includes(needle))) return hits;
    for (let at = 0; at < text.length;) {
      const found = this.#at(text, at);
      if (found !== undefined) hits.push({ start: at, end: at + found.length, text: found });
      at += found?.length ?? 1;
    }
    return hits;
  }

  #at(text: string, at: number): string | undefined {
    const list = at + 1 < text.length ? this.#by.get(pairAt(text, at)) : undefined;
    const long = list?.find((needle) => text.startsWith(needle, at));
    return long ?? (this.#single.size > 0 && this.#single.has(text[at]!) ? text[at] : undefined);
  }
}

function pairAt(text: string, at: number): number {
  return (text.charCodeAt(at) << 16) | text.charCodeAt(at + 1);
}
