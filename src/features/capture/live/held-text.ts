/**
 * Masks a text that comes in pieces. What may become a credential with the next piece waits for it: a word of signs that credentials
 * have, a URL that may have a password, a private key.
 */
import type { Mask } from "../../../gateway/recording/meaning.ts";

/** Signs that credentials, and the characters directly before them, consist of. */
const SIGN = /[!#$%&*+\-./0-9:=?@A-Z^_a-z|~]/;
const SCHEME = /\b(?:Bearer|Basic)\s?$/;
const USER = /^:\/\/[^\s/:@"]{0,64}(?::[^\s/:@"]*(?:@\S{0,256})?)?$/;
const KEY_HEAD = /^-----BEGIN[A-Z -]{0,40}$/;
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----(?![\s\S]*-----END [A-Z ]*PRIVATE KEY-----)/;
const WHOLE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----/g;
/** An end that cannot be the beginning of a credential of any length that matters. */
const HARMLESS = /^(?:[A-Za-z]+[.:!?]?|[^A-Za-z0-9]*)$/;
/** More does not wait: it is replaced as a whole, with what follows it without a gap. Characters. */
const MOST = 16_384;
/** What waits in addition where the operator has expressions of his own, which may match any text. Characters. */
const MARGIN = 64;
const MASKED = "***";
const GAP = /[\s"'`,;<>(){}[\]\\]/;

export class HeldText {
  readonly #mask: Mask;
  readonly #patterns: readonly RegExp[];
  #waiting = "";
  /** A word that was too long to wait has not ended. */
  #isSwallowing = false;

  /** @param mask of whole texts @param patterns of the operator, global */
  constructor(mask: Mask, patterns: readonly RegExp[]) {
    this.#mask = mask;
    this.#patterns = patterns;
  }

  /** @returns what can be shown */
  push(piece: string): string {
    let text = piece;
    if (this.#isSwallowing) {
      const gap = text.search(GAP);
      if (gap < 0) return "";
      this.#isSwallowing = false;
      text = text.slice(gap);
    }
    this.#waiting += text;
    const at = this.#end();
    const shown = this.#mask(this.#waiting.slice(0, at));
    this.#waiting = this.#waiting.slice(at);
    if (this.#waiting.length <= MOST) return shown;
    this.#waiting = "";
    this.#isSwallowing = true;
    return shown + MASKED;
  }

  /** Another part of the answer has begun. @returns what waited, if it is an ordinary word */
  pause(): string {
    return this.#patterns.length === 0 && HARMLESS.test(this.#waiting) ? this.end() : "";
  }

  /** No more comes. */
  end(): string {
    const last = this.#mask(this.#waiting);
    this.#waiting = "";
    return last;
  }

  /** Up to where the text is masked alike whatever follows. */
  #end(): number {
    const text = this.#waiting;
    let at = wholeEnd(text);
    // The earlier end must not be within a credential either.
    if (this.#patterns.length > 0) at = Math.min(at, wholeEnd(text.slice(0, -MARGIN)));
    for (const pattern of [...this.#patterns, WHOLE_KEY])
      for (const { index, 0: match } of text.matchAll(pattern))
        if (index < at && index + match.length > at) at = index;
    return at;
  }
}

/** Up to where no credential has begun whose end may follow. */
function wholeEnd(text: string): number {
  const key = text.search(PRIVATE_KEY);
  return Math.min(
    wordBegin(text),
    openAt(text, "://", USER),
    openAt(text, "-----BEGIN", KEY_HEAD),
    ...(key < 0 ? [] : [key]),
  );
}

/** Where the last word begins, with the name of its scheme before it. */
function wordBegin(text: string): number {
  let at = text.length;
  while (at > 0 && (SIGN.test(text[at - 1]!) || isOpening(text, at - 1))) at--;
  return at - (SCHEME.exec(text.slice(Math.max(0, at - 8), at))?.[0].length ?? 0);
}

/** The quote of an assignment. */
function isOpening(text: string, at: number): boolean {
  const sign = text[at]!;
  if (sign === "\\") return text[at - 1] === "=";
  return (
    (sign === '"' || sign === "'") &&
    (text[at - 1] === "=" || (text[at - 1] === "\\" && text[at - 2] === "="))
  );
}

/** @returns where the last mark is, if what follows it may go on; else the end */
function openAt(text: string, mark: string, open: RegExp): number {
  const at = text.lastIndexOf(mark);
  return at >= 0 && open.test(text.slice(at)) ? wordBegin(text.slice(0, at)) : text.length;
}
