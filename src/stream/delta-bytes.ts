/** Counts the text in the events of a stream without parsing them. */

/** Sums the lengths of the strings that are the values of some members. One kind of member is counted in each piece of a stream. */
export class DeltaCounter {
  readonly #marks: readonly string[];
  /** Where the mark that was found last is: the next piece probably has the same. */
  #last = 0;

  /** @param members names of the members whose strings are pieces of the answer */
  constructor(members: readonly string[]) {
    this.#marks = members.map((name) => `"${name}":`);
  }

  /** @param text the piece as Latin-1 @returns the length of the strings as they are written. Bytes */
  count(text: string): number {
    const marks = this.#marks;
    for (let tried = 0; tried < marks.length; tried++) {
      const index = (this.#last + tried) % marks.length;
      const bytes = stringBytes(text, marks[index]!);
      if (bytes === 0) continue;
      this.#last = index;
      return bytes;
    }
    return 0;
  }
}

const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

function stringBytes(text: string, mark: string): number {
  let bytes = 0;
  for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at)) {
    at += mark.length;
    if (text.charCodeAt(at) === SPACE) at++;
    if (text.charCodeAt(at) !== QUOTE) continue;
    let end = text.indexOf('"', at + 1);
    while (end > 0 && text.charCodeAt(end - 1) === BACKSLASH) end = text.indexOf('"', end + 1);
    if (end < 0) return bytes + text.length - at - 1;
    bytes += end - at - 1;
    at = end;
  }
  return bytes;
}
