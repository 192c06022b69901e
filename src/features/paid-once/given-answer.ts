/** An answer of this worker that another worker reads, piece by piece, for a client there. */
import { GatewayError } from "../../core/error.ts";
import type { Given, SoughtRequest, Wanted } from "./messages.ts";
import { Stop } from "../../core/stop.ts";
import { type ByteSource, clientLeft } from "../../gateway/delivery/stream.ts";
import type { Receiver } from "../../gateway/lanes/transport.ts";
import type { Kept } from "./kept.ts";

export class GivenAnswer implements Receiver {
  readonly #kept: Kept;
  readonly #request: SoughtRequest;
  readonly #say: (said: Given) => void;
  readonly #stop = new Stop();
  #source: ByteSource | undefined;

  constructor(kept: Kept, request: SoughtRequest, say: (said: Given) => void) {
    this.#kept = kept;
    this.#request = request;
    this.#say = say;
  }

  give(want: Wanted["want"]): void {
    if (want === "head") return void this.#begin();
    if (want === "piece") return this.#source?.take(this);
    this.#stop.abort(clientLeft());
    this.#source?.stop(this.#stop.reason);
  }

  async #begin(): Promise<void> {
    // Another client may have got the answer since the question.
    const request = this.#request;
    const followed = this.#kept.answers(request) ? await this.#kept.follow(request, this.#stop) : undefined;
    if (!followed) return this.#say({ gone: true });
    const { head, isWhole, opened } = followed;
    if (opened.kind === "json") return this.#say({ head, isWhole, body: opened.body as Uint8Array });
    if (this.#stop.aborted) return opened.source.stop(this.#stop.reason);
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
