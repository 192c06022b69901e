/** An answer of bytes that are no events, such as audio. They pass as they come. */
import type { Attempt } from "../../core/call.ts";
import { incompleteStream } from "../../core/incomplete.ts";
import { PacedReader } from "../delivery/backlog.ts";
import type { ByteSource } from "../delivery/stream.ts";
import { type ByteReader, nextPiece, type Receiver } from "../lanes/transport.ts";
import type { Gateway } from "../types.ts";

export class BytesSource implements ByteSource, Receiver {
  readonly #reader: PacedReader;
  readonly #attempt: Attempt;
  #first: Uint8Array | undefined;
  #receiver!: Receiver;

  constructor(reader: ByteReader, attempt: Attempt, { backlog }: Pick<Gateway, "backlog">) {
    this.#reader = new PacedReader(reader, attempt.call, backlog);
    this.#attempt = attempt;
  }

  /** @throws GatewayError if the connection breaks before the first byte */
  async begin(): Promise<void> {
    this.#first = (await nextPiece(this)).value;
    this.#attempt.firstByteAt = performance.now();
  }

  /** The answer has ended without a byte. Known when it has begun. */
  get isEmpty(): boolean {
    return this.#first === undefined;
  }

  take(receiver: Receiver): void {
    this.#receiver = receiver;
    const first = this.#first;
    this.#first = undefined;
    if (first) receiver.piece(first);
    else this.#reader.take(this);
  }

  piece(bytes: Uint8Array): void {
    this.#receiver.piece(bytes);
  }

  end(): void {
    this.#receiver.end();
  }

  fail(cause: unknown): void {
    this.#receiver.fail(this.#attempt.stop.reason ?? incompleteStream(cause));
  }

  stop(reason: unknown): void {
    this.#reader.cancel(reason).catch(() => {});
  }
}
