/** The places that the lines of one batch want: whose they are, and an estimate of their tokens. */
import type { RequestSize } from "../../../core/ledger.ts";
import { inputLikely } from "../../../core/tokens/likely.ts";
import { loadFormats } from "../admission.ts";
import type { Batch } from "../batch.ts";
import { lineSizer } from "../lines/size-line.ts";
import type { Owner } from "../owner.ts";
import type { InputLine } from "./input.ts";
import type { Place } from "./slots.ts";

/** Output of a line that has no limit. Tokens. */
const OUTPUT = 1_024;
/** A longer body is not parsed for the estimate. Bytes. */
const LONG = 256 * 1024;
const BYTES_OF_TOKEN = 4;

export class Places {
  readonly #of: Omit<Place, "model" | "tokens">;
  readonly #sizeOf: (body: Uint8Array) => RequestSize;
  readonly #known = new WeakMap<InputLine, Place>();

  private constructor(of: Omit<Place, "model" | "tokens">, sizeOf: (body: Uint8Array) => RequestSize) {
    this.#of = of;
    this.#sizeOf = sizeOf;
  }

  static async of(batch: Batch, { path, key, caller }: Owner): Promise<Places> {
    const { endpoint, priority = 0, createdAt: since } = batch;
    const { formats } = await loadFormats();
    return new Places({ sharer: key ?? caller?.id ?? path, priority, since }, lineSizer(formats, endpoint));
  }

  /** The same place for the same line. */
  of(line: InputLine): Place {
    const found = this.#known.get(line);
    if (found) return found;
    const place = { ...this.#of, model: line.model, tokens: this.#tokensOf(line.body) };
    this.#known.set(line, place);
    return place;
  }

  #tokensOf(body: Uint8Array): number {
    const simply = Math.ceil(body.length / BYTES_OF_TOKEN) + OUTPUT;
    if (body.length > LONG) return simply;
    try {
      const size = this.#sizeOf(body);
      return inputLikely(size) + (size.maxTokens ?? OUTPUT) * size.choices;
    } catch {
      // The call of the line says what is wrong.
      return simply;
    }
  }
}
