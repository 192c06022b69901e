/** Reads the item of an image that the provider generated. */
import type { JsonObject } from "../../../core/json.ts";
import { readImageCall } from "../image-call.ts";
import type { AnswerState, ItemReader } from "./reader.ts";

/** An image comes whole, with the end of its item; weir does not pass on previews. */
export class ImageReader implements ItemReader {
  readonly #state: AnswerState;
  #isSettled = false;

  constructor(state: AnswerState) {
    this.#state = state;
  }

  take(): void {}

  settle(item: JsonObject): void {
    const image = readImageCall(item);
    if (this.#isSettled || !image) return;
    this.#isSettled = true;
    this.#state.blocks.open({ type: "image", ...image }).end();
  }

  end(): void {}
}
