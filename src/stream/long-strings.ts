/** Cuts long strings out of JSON as it passes, so that members can be read beside megabytes of base64. */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LINE_FEED = 0x0a;

/** A string longer than this is cut behind its beginning. Bytes. */
const LONGEST = 4096;

/**
 * Input is text with JSON in it, output the same without the ends of long strings. A line break ends a string, as JSON has none in
 * strings.
 */
export class LongStrings {
  #isInside = false;
  #isEscaped = false;
  /** Of the string so far. */
  #length = 0;

  /** @returns the parts that are left, which are views of `bytes` */
  push(bytes: Uint8Array): Uint8Array[] {
    const kept: Uint8Array[] = [];
    let at = 0;
    let from = 0;
    while (at < bytes.length) {
      if (!this.#isInside) {
        const quote = bytes.indexOf(QUOTE, at);
        if (quote < 0) break;
        this.#isInside = true;
        this.#length = 0;
        at = quote + 1;
        continue;
      }
      const end = this.#endIn(bytes, at);
      const most = at + Math.max(0, LONGEST - this.#length);
      if (end > most) {
        if (most > from) kept.push(bytes.subarray(from, most));
        from = end;
      }
      this.#length += end - at;
      at = end;
      if (at === bytes.length) break;
      this.#isInside = false;
      at++;
    }
    if (from < bytes.length) kept.push(bytes.subarray(from));
    return kept;
  }

  /** Where the string ends: at its quote, at a line break, or at the end of the bytes. */
  #endIn(bytes: Uint8Array, from: number): number {
    for (let at = from; at < bytes.length; at++) {
      if (this.#isEscaped) {
        this.#isEscaped = false;
        continue;
      }
      const byte = bytes[at]!;
      if (byte === BACKSLASH) this.#isEscaped = true;
      else if (byte === QUOTE || byte === LINE_FEED) return at;
    }
    return bytes.length;
  }
}
