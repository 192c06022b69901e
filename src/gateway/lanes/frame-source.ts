/** The source of a streamed answer that weir encodes: writes the client's frames as bytes. */
import type { Frame } from "../../core/format.ts";
import { writeFrame } from "../../stream/sse.ts";
import type { ByteSource } from "../delivery/stream.ts";

export class FrameSource implements ByteSource {
  readonly #frames: AsyncIterator<Frame>;
  #held: Frame | undefined;

  constructor(frames: AsyncIterable<Frame>) {
    this.#frames = frames[Symbol.asyncIterator]();
  }

  async begin(): Promise<void> {
    const { done, value } = await this.#frames.next();
    if (!done) this.#held = value;
  }

  next(): Promise<Uint8Array | undefined> {
    const held = this.#held;
    if (!held) return this.#frames.next().then(write);
    this.#held = undefined;
    return Promise.resolve(encoder.encode(writeFrame(held)));
  }

  stop(): void {
    this.#frames.return?.().catch(() => {});
  }
}

const encoder = new TextEncoder();

function write({ done, value }: IteratorResult<Frame>): Uint8Array | undefined {
  return done ? undefined : encoder.encode(writeFrame(value));
}
