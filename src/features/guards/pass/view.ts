/** A piece of JSON as guards read it: without its escapes. */
import type { Edit } from "../replace/edits.ts";

export interface View {
  readonly text: string;
  /** Position in the piece. @param at a position up to the length of the text */
  at(at: number): number;
}

const ESCAPE = /\\(?:u[0-9A-Fa-f]{4}|["\\/bfnrt])/y;
/** An escape whose end is still to come. */
const CUT = /\\(?:u[0-9A-Fa-f]{0,3})?$/y;

/** @param isFinal no more text follows: an escape without its end is none */
export function viewOf(piece: string, isFinal: boolean): View {
  if (!piece.includes("\\")) return { text: piece, at: (at) => at };
  let text = "";
  const places: number[] = [];
  let at = 0;
  while (at < piece.length) {
    const next = piece.indexOf("\\", at);
    const end = next < 0 ? piece.length : next;
    for (let unit = at; unit < end; unit++) places.push(unit);
    text += piece.slice(at, end);
    at = end;
    if (next < 0) break;
    ESCAPE.lastIndex = at;
    CUT.lastIndex = at;
    const escape = ESCAPE.exec(piece)?.[0];
    if (escape === undefined && !isFinal && CUT.test(piece)) break;
    places.push(at);
    text += escape === undefined ? "\\" : (JSON.parse(`"${escape}"`) as string);
    at += escape?.length ?? 1;
  }
  places.push(at);
  return { text, at: (position) => places[position]! };
}

/**
 * Whether a position of JSON is within a string.
 * @param to no position within an escape @param began whether `from` is within a string
 */
export function isInString(json: string, from: number, to: number, began: boolean): boolean {
  let isWithin = began;
  for (let at = from; at < to; at++) {
    const char = json[at];
    if (char === '"') isWithin = !isWithin;
    else if (char === "\\" && isWithin) at++;
  }
  return isWithin;
}

/** Edits of JSON: what stands in place of a number is a string. @param began whether the text begins within a string */
export function quoted(json: string, edits: readonly Edit[], began: boolean): Edit[] {
  let isWithin = began;
  let from = 0;
  return edits.map((edit) => {
    isWithin = isInString(json, from, edit.start, isWithin);
    from = edit.start;
    return isWithin ? edit : { ...edit, text: `"${edit.text}"` };
  });
}
