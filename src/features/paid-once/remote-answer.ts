/** An answer of another worker, for a client of this one. */
import { GatewayError } from "../../core/error.ts";
import type { BrokenStream } from "../../core/format.ts";
import type { Frame } from "../../core/frame.ts";
import type { Given, Wanted } from "./messages.ts";
import type { Stoppable } from "../../core/stop.ts";
import { parseFrames } from "../../stream/sse.ts";
import type { ByteSource } from "../../gateway/delivery/stream.ts";
import type { Receiver } from "../../gateway/lanes/transport.ts";
import type { Followed } from "./kept.ts";
import { unlessStopped } from "./unless-stopped.ts";

export class RemoteAnswer implements ByteSource {
  readonly #want: (want: Wanted["want"]) => void;
  readonly #begun = Promise.withResolvers<Followed | undefined>();
  #receiver: Receiver | undefined;
  #before = "";
  #last: Uint8Array | undefined;
  #events: readonly Frame[] | undefined;
  #isOver = false;

  /** @param want asks the other worker */
  constructor(want: (want: Wanted["want"]) => void) {
    this.#want = want;
  }

  /** @param stop ends the wait @returns undefined if there is no answer any more */
  async open(stop: Stoppable): Promise<Followed | undefined> {
    this.#want("head");
    const followed = await unlessStopped(this.#begun.promise, stop);
    if (!followed) this.stop();
    return followed;
  }

  async begin(): Promise<void> {}

  take(receiver: Receiver): void {
    if (this.#isOver) return receiver.fail(lost());
    this.#receiver = receiver;
    this.#want("piece");
  }

  beforeError(): string {
    return this.#before;
  }

  broken(): BrokenStream {
    const last = this.#last && parseFrames(this.#last).at(-1);
    return last ? { last } : {};
  }

  writeError(): readonly Frame[] | undefined {
    return this.#events;
  }

  stop(): void {
    if (!this.#isOver) this.#want("nothing");
    this.#isOver = true;
  }

  /** The other worker has said something. */
  receive(given: Given): void {
    if ("head" in given) {
      const { head, isWhole, body } = given;
      const { status, headers } = head;
      const opened = body
        ? { kind: "json" as const, status, headers, body }
        : { kind: "stream" as const, status, headers, source: this };
      return this.#begun.resolve({ head, isWhole, opened });
    }
    const receiver = this.#receiver;
    this.#receiver = undefined;
    if ("piece" in given) {
      this.#before = given.before;
      this.#last = given.piece;
      return receiver?.piece(given.piece);
    }
    this.#isOver = true;
    this.#begun.resolve(undefined);
    if ("end" in given) return receiver?.end();
    if ("gone" in given) return receiver?.fail(lost());
    const { kind, message, code, events } = given.failure;
    this.#events = events;
    receiver?.fail(new GatewayError(kind, message, code === undefined ? {} : { code }));
  }
}

function lost(): GatewayError {
  return new GatewayError(
    "upstream",
    "The process of the gateway that had the answer has ended; repeat the request.",
  );
}
