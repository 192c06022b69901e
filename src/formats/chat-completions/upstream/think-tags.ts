/**
 * Separates reasoning between `<think>` tags at the start of the text, for servers that do not separate it (trait
 * `thinkTags`). Deltas may split the tags anywhere.
 */
export interface ThinkPiece {
  kind: "reasoning" | "text";
  text: string;
}

const OPEN = "<think>";
const CLOSE = "</think>";

export class ThinkTags {
  #state: "before" | "inside" | "after" = "before";
  #buffered = "";
  /** The tag has closed and no text has followed yet. */
  #fresh = false;

  push(text: string): ThinkPiece[] {
    this.#buffered += text;
    const pieces: ThinkPiece[] = [];
    if (this.#state === "before") this.#readOpening();
    if (this.#state === "inside") this.#readReasoning(pieces);
    if (this.#state === "after") this.#readText(pieces);
    return pieces;
  }

  /** Returns the buffered text at the end of the answer. */
  rest(): ThinkPiece[] {
    const pieces: ThinkPiece[] = [];
    this.#take(this.#state === "inside" ? "reasoning" : "text", this.#buffered.length, pieces);
    return pieces;
  }

  /** Only white space may precede the tag. */
  #readOpening(): void {
    const begin = this.#buffered.trimStart();
    if (begin.startsWith(OPEN)) {
      this.#state = "inside";
      this.#buffered = begin.slice(OPEN.length);
    } else if (!OPEN.startsWith(begin)) this.#state = "after";
  }

  #readReasoning(pieces: ThinkPiece[]): void {
    const at = this.#buffered.indexOf(CLOSE);
    if (at < 0) return this.#take("reasoning", this.#buffered.length - partialLength(this.#buffered), pieces);
    this.#take("reasoning", at, pieces);
    this.#state = "after";
    this.#buffered = this.#buffered.slice(CLOSE.length);
    this.#fresh = true;
  }

  /** White space after the closing tag belongs to the tag. */
  #readText(pieces: ThinkPiece[]): void {
    if (this.#fresh) this.#buffered = this.#buffered.trimStart();
    if (this.#buffered !== "") this.#fresh = false;
    this.#take("text", this.#buffered.length, pieces);
  }

  #take(kind: ThinkPiece["kind"], length: number, pieces: ThinkPiece[]): void {
    const text = this.#buffered.slice(0, length);
    this.#buffered = this.#buffered.slice(length);
    if (text !== "") pieces.push({ kind, text });
  }
}

/** Number of last characters that may be the beginning of the closing tag. */
function partialLength(text: string): number {
  for (let length = Math.min(CLOSE.length - 1, text.length); length > 0; length--)
    if (CLOSE.startsWith(text.slice(-length))) return length;
  return 0;
}
