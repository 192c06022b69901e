/** Captured calls on their way to the keeper. */
import type { BooksChannel } from "../ledger/channel.ts";
import type { Captured } from "../ledger/captured.ts";

/** Calls that wait for the keeper at most. */
const MOST = 64;
/** Between two looks at a connection that is not open. Milliseconds. */
const LOOK_MS = 200;

export interface OutboxOptions {
  channel: Pick<BooksChannel, "isUp" | "send">;
  /** See `CapturedBatch`. */
  fileBytes: number;
  /** Reports calls that were lost, as a sentence. */
  fault(sentence: string): void;
}

export class CaptureOutbox {
  readonly #options: OutboxOptions;
  #waiting: Captured[] = [];
  #timer: Timer | undefined;
  #hasTold = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  add(captured: Captured): void {
    this.#waiting.push(captured);
    if (this.#waiting.length > MOST) {
      this.#waiting.shift();
      if (!this.#hasTold) this.#options.fault("captured calls are lost: the keeper cannot be reached");
      this.#hasTold = true;
    }
    this.#send();
  }

  #send(): void {
    const { channel, fileBytes } = this.#options;
    if (!channel.isUp) {
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        this.#send();
      }, LOOK_MS);
      this.#timer.unref();
      return;
    }
    if (this.#waiting.length > 0)
      channel.send({ kind: "captured", batch: { captured: this.#waiting, fileBytes } });
    this.#waiting = [];
    this.#hasTold = false;
  }
}
