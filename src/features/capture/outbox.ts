/** Captured calls on their way to the keeper. */
import type { Channel } from "../../core/channel.ts";
import type { Captured, CapturedBatch } from "./captured.ts";

/** Calls that wait for the keeper at most. */
const MOST = 64;

/** Calls never wait for the keeper. */
export class CaptureOutbox {
  readonly #channel: Pick<Channel<CapturedBatch, never>, "isUp" | "send">;
  readonly #fault: (sentence: string) => void;
  #waiting: Captured[] = [];
  /** See {@link CapturedBatch}. */
  #fileBytes = 0;
  #hasTold = false;

  /** @param fault reports calls that were lost, as a sentence */
  constructor(
    channel: Pick<Channel<CapturedBatch, never>, "isUp" | "send">,
    fault: (sentence: string) => void,
  ) {
    this.#channel = channel;
    this.#fault = fault;
  }

  /** @param fileBytes see {@link CapturedBatch} */
  add(captured: Captured, fileBytes: number): void {
    this.#fileBytes = fileBytes;
    this.#waiting.push(captured);
    if (this.#waiting.length > MOST) {
      this.#waiting.shift();
      if (!this.#hasTold) this.#fault("captured calls are lost: the keeper cannot be reached");
      this.#hasTold = true;
    }
    this.send();
  }

  /** Sends what waits, if the keeper is connected. */
  send(): void {
    if (!this.#channel.isUp || this.#waiting.length === 0) return;
    this.#channel.send({ captured: this.#waiting, fileBytes: this.#fileBytes });
    this.#waiting = [];
    this.#hasTold = false;
  }
}
