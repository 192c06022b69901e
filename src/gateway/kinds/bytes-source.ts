/** An answer of bytes that are no events: audio, plain text. They pass as they come. */
import type { Attempt } from "../../core/call.ts";
import { incompleteStream } from "../../core/incomplete.ts";
import { PacedReader } from "../delivery/backlog.ts";
import { CredentialMask } from "../delivery/redact.ts";
import type { ByteSource } from "../delivery/stream.ts";
import { type ByteReader, nextPiece, type Receiver } from "../lanes/transport.ts";
import type { Gateway } from "../types.ts";

export class BytesSource implements ByteSource, Receiver {
  readonly #reader: PacedReader;
  readonly #attempt: Attempt;
  /** Of texts alone: a provider may repeat what weir sent. */
  readonly #mask: CredentialMask | undefined;
  #first: Uint8Array | undefined;
  #hasEnded = false;
  #receiver!: Receiver;

  /** @param type content type of the answer */
  constructor(reader: ByteReader, type: string, attempt: Attempt, { backlog }: Pick<Gateway, "backlog">) {
    this.#reader = new PacedReader(reader, attempt.call, backlog);
    this.#attempt = attempt;
    this.#mask = type.startsWith("text/") ? new CredentialMask(attempt.target) : undefined;
  }

  /** @throws GatewayError if the connection breaks before the first byte */
  async begin(): Promise<void> {
    const { value } = await nextPiece(this);
    this.#first = value;
    this.#attempt.firstByteAt = performance.now();
  }

  take(receiver: Receiver): void {
    this.#receiver = receiver;
    const first = this.#first;
    this.#first = undefined;
    if (first) receiver.piece(first);
    else if (this.#hasEnded) receiver.end();
    else this.#reader.take(this);
  }

  piece(bytes: Uint8Array): void {
    const passed = this.#mask?.push(bytes) ?? bytes;
    if (passed.length > 0) this.#receiver.piece(passed);
    else this.#reader.take(this);
  }

  end(): void {
    this.#hasEnded = true;
    const rest = this.#mask?.end();
    if (rest && rest.length > 0) this.#receiver.piece(rest);
    else this.#receiver.end();
  }

  fail(cause: unknown): void {
    this.#receiver.fail(this.#attempt.stop.reason ?? incompleteStream(cause));
  }

  stop(reason: unknown): void {
    this.#reader.cancel(reason).catch(() => {});
  }
}
