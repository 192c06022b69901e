/** An answer of this worker that another worker reads, piece by piece, for a client there. */
import { GatewayError } from "../../core/error.ts";
import type { Given, SoughtRequest, Wanted } from "../../core/paid-once.ts";
import type { ByteSource } from "../delivery/stream.ts";
import type { Receiver } from "../lanes/transport.ts";
import type { Kept } from "./kept.ts";

export class GivenAnswer implements Receiver {
  readonly #kept: Kept;
  readonly #request: SoughtRequest;
  readonly #say: (said: Given) => void;
  #source: ByteSource | undefined;
  #isOver = false;

  constructor(kept: Kept, request: SoughtRequest, say: (said: Given) => void) {
    this.#kept = kept;
    this.#request = request;
    this.#say = say;
  }

  give(want: Wanted["want"]): void {
    if (want === "head") return void this.#begin();
    if (want === "piece") return this.#source?.take(this);
    this.#isOver = true;
    this.#source?.stop(undefined);
  }

  async #begin(): Promise<void> {
    // Another client may have got the answer since the question.
    const followed = this.#kept.answers(this.#request) ? await this.#kept.follow(this.#request) : undefined;
    if (!followed) return this.#say({ gone: true });
    const { head, isWhole, opened } = followed;
    if (opened.kind === "json") return this.#say({ head, isWhole, body: opened.body as Uint8Array });
    if (this.#isOver) return opened.source.stop(undefined);
    this.#source = opened.source;
    this.#say({ head, isWhole });
  }

  piece(piece: Uint8Array): void {
    this.#say({ piece, before: this.#source?.beforeError?.() ?? "" });
  }

  end(): void {
    const error = this.#source?.error;
    if (error) this.fail(error);
    else this.#say({ end: true });
  }

  fail(thrown: unknown): void {
    const error = GatewayError.from(thrown);
    const { kind, message, code } = error;
    const events = this.#source?.writeError?.(error);
    this.#say({
      failure: { kind, message, ...(code !== undefined && { code }), ...(events && { events }) },
    });
  }
}
