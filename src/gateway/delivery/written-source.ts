/** The source of a stream that is written as a whole. */
import type { Receiver } from "../lanes/transport.ts";
import type { ByteSource } from "./stream.ts";

export class WrittenSource implements ByteSource {
  #bytes: Uint8Array | undefined;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  async begin(): Promise<void> {}

  take(receiver: Receiver): void {
    const bytes = this.#bytes;
    this.#bytes = undefined;
    if (bytes) receiver.piece(bytes);
    else receiver.end();
  }

  stop(): void {}
}
