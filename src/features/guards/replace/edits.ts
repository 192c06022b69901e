/** Replacements within a text. */

export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** @param edits in the order of the text, apart */
export function edited(text: string, edits: readonly Edit[]): string {
  let result = "";
  let from = 0;
  for (const { start, end, text: inserted } of edits) {
    result += text.slice(from, start) + inserted;
    from = end;
  }
  return result + text.slice(from);
}

/** A text as it is written within a string of JSON. */
export function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
