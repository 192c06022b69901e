/** A piece of JSON as guards read it: without its escapes. */

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
