/** Tests of single characters, by their codes: faster than expressions where every character of a text is asked. */

export const isDigit = (code: number): boolean => code >= 48 && code < 58;
export const isLetter = (code: number): boolean => (code >= 97 && code < 123) || (code >= 65 && code < 91);
export const isAlnum = (code: number): boolean => isDigit(code) || isLetter(code);
/** As `\w` of expressions. */
export const isWord = (code: number): boolean => isAlnum(code) || code === 0x5f;
export const isHex = (code: number): boolean =>
  isDigit(code) || (code >= 97 && code < 103) || (code >= 65 && code < 71);

/** The code at any position; 0: there is none. Codes that are no numbers make compiled code be thrown away. */
export const codeAt = (text: string, at: number): number =>
  at >= 0 && at < text.length ? text.charCodeAt(at) : 0;

/** A function of characters that is computed once for each of them, by blocks of 256: most texts touch few blocks. */
export function byBlock<Value>(of: (char: string) => Value): (code: number) => Value {
  const blocks: (Value[] | undefined)[] = [];
  return (code) => {
    const high = code >> 8;
    const block = (blocks[high] ??= Array.from({ length: 256 }, (_, low) =>
      of(String.fromCodePoint((high << 8) | low)),
    ));
    return block[code & 0xff]!;
  };
}

/** Where the run of characters at the end of a text begins. @param most longest run */
export function runAtEnd(text: string, most: number, has: (code: number) => boolean): number {
  const least = Math.max(0, text.length - most);
  let at = text.length;
  while (at > least && has(text.charCodeAt(at - 1))) at--;
  return at;
}
