/** Tokens in an answer for which the call has no value: a model has made one up, or changed one. */

/** Characters of a text that a token may still have in front of what comes next. */
const TAIL = 80;
/** Between the parts of a token that a model has changed. */
const BETWEEN = "[^a-z0-9]{1,3}";

export class Strays {
  readonly #kinds: ReadonlySet<string>;
  /** Made for the first text that may have a token. */
  #shape: RegExp | undefined;
  readonly #digests: ReadonlySet<string>;
  readonly #tell: (kind: string) => void;

  /** @param tokens of the call @param tell called with the kind of each token without a value */
  constructor(tokens: Iterable<string>, tell: (kind: string) => void) {
    const parts = [...tokens].map((token) => /^PII_(.+?)_([a-z2-7]{8,13})(?:_\d+)?$/.exec(token));
    this.#kinds = new Set(parts.flatMap((match) => match?.[1] ?? []));
    this.#digests = new Set(parts.flatMap((match) => match?.[2] ?? []));
    this.#tell = tell;
  }

  /** Reads one text, in pieces. */
  reader(): (piece: string) => void {
    let tail = "";
    let at = 0;
    /** What is in front of it is counted. */
    let counted = 0;
    return (piece) => {
      const text = tail + piece;
      if (/pii/i.test(text))
        for (const match of text.matchAll((this.#shape ??= this.#made()))) {
          const start = at + match.index;
          if (start < counted || !this.#isToken(match)) continue;
          counted = start + match[0].length;
          this.#tell(match[2]!.toUpperCase());
        }
      tail = text.slice(-TAIL);
      at += text.length - tail.length;
    };
  }

  #made(): RegExp {
    const kinds = [...this.#kinds].join("|") || "(?!)";
    return new RegExp(`pii(${BETWEEN})(${kinds})(${BETWEEN})([a-z2-7]{3,13})`, "gi");
  }

  /** Words such as `PII email list` are none: without its underscores, the rest must be that of a token of the call. */
  #isToken([, before, , behind, digest]: RegExpExecArray): boolean {
    return (before === "_" && behind === "_") || this.#digests.has(digest!.toLowerCase());
  }
}
