/** Restores values in a text that comes in pieces. The result does not depend on where it is cut. */

/** A token in a text, with its value. */
export interface Restoration {
  readonly start: number;
  readonly end: number;
  readonly value: string;
}

/** The tokens of a call, ready to be found. Models change the case of tokens: letters are compared without it. */
export class Tokens {
  /** Lower case, the longest first. */
  readonly #tokens: readonly (readonly [token: string, value: string])[];
  readonly longest: number;

  constructor(values: ReadonlyMap<string, string>) {
    this.#tokens = [...values]
      .map(([token, value]) => [token.toLowerCase(), value] as const)
      .sort(([one], [other]) => other.length - one.length);
    this.longest = this.#tokens[0]?.[0].length ?? 0;
  }

  /**
   * The tokens in a text, and the position from which on a token may still begin or grow.
   * @param isFinal no more text follows
   */
  find(text: string, isFinal: boolean): { found: Restoration[]; edge: number } {
    const found: Restoration[] = [];
    if (this.longest === 0) return { found, edge: text.length };
    const lower = asciiLower(text);
    for (let at = lower.indexOf("p"); at >= 0; at = lower.indexOf("p", at)) {
      if (!isFinal && this.#mayGrow(lower, at)) return { found, edge: at };
      const token = this.#at(lower, at);
      if (token) found.push({ start: at, end: at + token[0].length, value: token[1] });
      at += token ? token[0].length : 1;
    }
    return { found, edge: text.length };
  }

  /** The text with all values. @param write a value as it stands in the text */
  restore(text: string, write: (value: string) => string = (value) => value): string {
    const { found } = this.find(text, true);
    if (found.length === 0) return text;
    let restored = "";
    let from = 0;
    for (const { start, end, value } of found) {
      restored += text.slice(from, start) + write(value);
      from = end;
    }
    return restored + text.slice(from);
  }

  /** The longest token that is here. */
  #at(lower: string, at: number): readonly [string, string] | undefined {
    if (!couldBegin(lower, at)) return undefined;
    return this.#tokens.find(([token]) => lower.startsWith(token, at));
  }

  /** Whether the rest of the text is a proper beginning of a token. */
  #mayGrow(lower: string, at: number): boolean {
    const rest = lower.length - at;
    if (rest >= this.longest || !couldBegin(lower, at)) return false;
    const text = lower.slice(at);
    return this.#tokens.some(([token]) => token.length > rest && token.startsWith(text));
  }
}

function couldBegin(lower: string, at: number): boolean {
  return "pii_".startsWith(lower.slice(at, at + 4));
}

/** Without changing its length, as the lower case of some letters does. */
function asciiLower(text: string): string {
  const lower = text.toLowerCase();
  return lower.length === text.length ? lower : text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
