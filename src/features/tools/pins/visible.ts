/** Text of servers for people: whatever does not show, or shows as something else, is written as an escape. */

/**
 * Controls, format characters (bidirectional, zero-width, tags), variation selectors and fillers, private and unassigned characters,
 * halves of surrogate pairs, spaces and line ends other than those of ASCII, and the empty braille pattern.
 */
const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}\u2800]|\\(?=u\{)/gu;

/** The text on one line. A backslash that is part of the text and begins what looks like an escape is doubled. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (one) => {
    if (one === " ") return one;
    return one === "\\" ? "\\\\" : `\\u{${one.codePointAt(0)!.toString(16).toUpperCase()}}`;
  });
}

/** The text on the lines that it has; only line feeds end one. */
export function visibleLines(text: string): string[] {
  return text.split("\n").map(visible);
}

/** A name: letters of other alphabets can look like those of ASCII, so they are escaped as well. */
export function visibleName(name: string): string {
  return visible(name).replace(
    /[^\x20-\x7e]/gu,
    (one) => `\\u{${one.codePointAt(0)!.toString(16).toUpperCase()}}`,
  );
}
