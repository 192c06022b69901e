/**
 * Reasoning between `<think>` tags at the head of the text, as models write it whose server does not part it (trait
 * `thinkTags`). The tags may be cut anywhere.
 */
export interface ThinkPiece {
  kind: "reasoning" | "text";
  text: string;
}

const OPEN = "<think>";
const CLOSE = "</think>";

export class ThinkTags {
  #state: "before" | "inside" | "behind" = "before";
  #held = "";
  /** The tag has closed and nothing was said since. */
  #fresh = false;

  push(text: string): ThinkPiece[] {
    this.#held += text;
    const pieces: ThinkPiece[] = [];
    if (this.#state === "before") this.#enter();
    if (this.#state === "inside") this.#leave(pieces);
    if (this.#state === "behind") this.#speak(pieces);
    return pieces;
  }

  /** What is held at the end, as what it is so far. */
  rest(): ThinkPiece[] {
    const pieces: ThinkPiece[] = [];
    this.#take(this.#state === "inside" ? "reasoning" : "text", this.#held.length, pieces);
    return pieces;
  }

  /** Only white space may stand before the tag. */
  #enter(): void {
    const begin = this.#held.trimStart();
    if (begin.startsWith(OPEN)) {
      this.#state = "inside";
      this.#held = begin.slice(OPEN.length);
    } else if (!OPEN.startsWith(begin)) this.#state = "behind";
  }

  #leave(pieces: ThinkPiece[]): void {
    const at = this.#held.indexOf(CLOSE);
    if (at < 0) return this.#take("reasoning", this.#held.length - begun(this.#held), pieces);
    this.#take("reasoning", at, pieces);
    this.#state = "behind";
    this.#held = this.#held.slice(CLOSE.length);
    this.#fresh = true;
  }

  /** White space behind the closing tag belongs to the tag. */
  #speak(pieces: ThinkPiece[]): void {
    if (this.#fresh) this.#held = this.#held.trimStart();
    if (this.#held !== "") this.#fresh = false;
    this.#take("text", this.#held.length, pieces);
  }

  #take(kind: ThinkPiece["kind"], length: number, pieces: ThinkPiece[]): void {
    const text = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    if (text !== "") pieces.push({ kind, text });
  }
}

/** How many of the last characters may be the beginning of the closing tag. */
function begun(text: string): number {
  for (let length = Math.min(CLOSE.length - 1, text.length); length > 0; length--)
    if (CLOSE.startsWith(text.slice(-length))) return length;
  return 0;
}
