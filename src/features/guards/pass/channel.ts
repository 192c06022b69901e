/** The pieces of one text of a streamed answer. */
import type { AnswerText, Text } from "../../../core/text-places.ts";
import { type Edit, edited } from "../replace/edits.ts";
import type { Judged, Output } from "./output.ts";
import { isInString } from "./view.ts";

/** An event with pieces of channels. */
export interface Holder {
  /** Its pieces that are not decided. */
  open: number;
  /** New texts by the paths of their strings. */
  changes?: Map<string, string>;
}

/** What decides about a text. */
export type Judging = Pick<Output, "judge"> & Partial<Pick<Output, "strays">>;

interface Piece {
  readonly of: Holder;
  readonly path: string;
  readonly given: string;
  /** What of it is decided. */
  decided: string;
  /** The rest of it in the text of the channel. */
  start: number;
  end: number;
}

/** Characters in front of the rest, which tell whether a value can begin there. */
const CONTEXT = 8;

export class Channel {
  readonly #text: Text;
  /** What is not decided, behind {@link CONTEXT}. */
  #rest = "";
  #context = "";
  #pieces: Piece[] = [];
  /** It is JSON, and the rest begins within a string of it. */
  #began = false;
  #strays: ReturnType<Output["strays"]>;

  constructor(text: Text) {
    this.#text = text;
  }

  add(text: AnswerText, of: Holder): void {
    const given = text.get();
    const start = this.#rest.length;
    this.#rest += given;
    this.#pieces.push({ of, path: text.path, given, decided: "", start, end: this.#rest.length });
    of.open++;
  }

  /** @param isFinal no more text follows @returns the verdict if a guard blocks */
  settle(output: Judging, isFinal: boolean): Judged | undefined {
    if (this.#pieces.length === 0) return undefined;
    const judged = output.judge(this.#rest, this.#text, isFinal, this.#context, false, this.#began);
    const { edge, edits, read, error } = judged;
    this.#decide(edge, edits);
    this.#context = (this.#context + read).slice(-CONTEXT);
    (this.#strays ??= output.strays?.())?.(read);
    return error && judged;
  }

  /** Everything up to the edge can go on. */
  #decide(edge: number, edits: readonly Edit[]): void {
    const open: Piece[] = [];
    for (const piece of this.#pieces) {
      const end = Math.min(piece.end, edge);
      if (end > piece.start) piece.decided += within(this.#rest, piece.start, end, edits);
      piece.start = Math.max(piece.start, end);
      if (piece.end <= edge) close(piece);
      else open.push(piece);
    }
    if (this.#text.isJson) this.#began = isInString(this.#rest, 0, edge, this.#began);
    this.#rest = this.#rest.slice(edge);
    for (const piece of open) {
      piece.start -= edge;
      piece.end -= edge;
    }
    this.#pieces = open;
  }
}

function close({ of, path, given, decided }: Piece): void {
  of.open--;
  if (decided !== given) (of.changes ??= new Map()).set(path, decided);
}

/** A part of a text with its edits. What replaces a value stands where the value begins. */
function within(text: string, start: number, end: number, edits: readonly Edit[]): string {
  if (edits.length === 0) return text.slice(start, end);
  const own = edits
    .filter((edit) => edit.start < end && edit.end > start)
    .map((edit) => ({
      start: Math.max(edit.start, start) - start,
      end: Math.min(edit.end, end) - start,
      text: edit.start >= start ? edit.text : "",
    }));
  return edited(text.slice(start, end), own);
}
