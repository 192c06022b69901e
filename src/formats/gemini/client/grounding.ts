/** Encodes citations as `groundingMetadata`. */
import type { Citation } from "../../../core/events.ts";
import type { JsonObject } from "../../../core/json.ts";

export class Grounding {
  /** Length of the text so far. Bytes of UTF-8, the unit of Google's indexes. */
  #length = 0;
  readonly #chunks: JsonObject[] = [];
  readonly #supports: JsonObject[] = [];

  /** Takes a piece of the answer's text. */
  add(text: string): void {
    this.#length += Buffer.byteLength(text);
  }

  /** A source of the text so far. */
  cite({ url, title }: Citation): void {
    const index = this.#chunks.length;
    this.#chunks.push({ web: { uri: url, ...(title !== undefined && { title }) } });
    this.#supports.push({ segment: { endIndex: this.#length }, groundingChunkIndices: [index] });
  }

  /** The member `groundingMetadata`; none without citations. */
  get metadata(): JsonObject {
    if (this.#chunks.length === 0) return {};
    return { groundingMetadata: { groundingChunks: this.#chunks, groundingSupports: this.#supports } };
  }
}
