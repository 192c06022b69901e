/** How long an audio file is, from its container, while the file passes by. */
import { readMatroska, readMp4 } from "./boxes.ts";
import { readFlac, readOgg, readWav } from "./containers.ts";
import { frameAt, readFrames } from "./frames.ts";
import { ascii, type Reading, skip, Stepper, take, u32 } from "./steps.ts";

export interface AudioLength {
  seconds: number;
  /** The container does not say it, so that it comes from the number of bytes. */
  isEstimated: boolean;
}

/** What a second takes where the container does not say it: speech at 32 kbit/s. Bytes. */
const LIKELY_RATE = 4000;

/** What a second takes at most and at least: a container that says something else is not believed. Bytes. */
const MOST_RATE = 4_000_000;
const LEAST_RATE = 50;

/** What is before the audio and belongs to no length, such as tags with a picture. Bytes. */
const TAGS = 1024 * 1024;

/** Reads any bytes without an error, in memory of a fixed size. */
export class AudioLengthReader {
  readonly #stepper = new Stepper(readAny());
  #bytes = 0;

  push(piece: Uint8Array): void {
    this.#bytes += piece.length;
    this.#stepper.push(piece);
  }

  /** Once, when the file has ended. */
  end(): AudioLength {
    this.#stepper.end();
    const { seconds } = this.#stepper;
    if (seconds !== undefined && this.#isLikely(seconds)) return { seconds, isEstimated: false };
    return { seconds: this.#bytes / LIKELY_RATE, isEstimated: true };
  }

  #isLikely(seconds: number): boolean {
    const least = Math.max(0, this.#bytes - TAGS) / MOST_RATE;
    return Number.isFinite(seconds) && seconds >= least && seconds <= this.#bytes / LEAST_RATE + 1;
  }
}

/** Reads a container by its first bytes. */
function* readAny(): Reading {
  const start = Uint8Array.from(yield* take(4));
  if (start.length < 4) return undefined;
  const name = ascii(start, 0);
  if (name === "fLaC") return yield* readFlac();
  if (name === "OggS") return yield* readOgg();
  if (u32(start, 0) === 0x1a45dfa3) return yield* readMatroska();
  const more = Uint8Array.from([...start, ...(yield* take(8))]);
  if (more.length < 12) return undefined;
  if (name === "RIFF" || name === "RF64") return ascii(more, 8) === "WAVE" ? yield* readWav() : undefined;
  if (ascii(more, 4) === "ftyp") return yield* readMp4(more);
  if (ascii(more, 0, 3) === "ID3") {
    const tag = more.subarray(6, 10).reduce((sum, byte) => sum * 128 + (byte & 0x7f), 0);
    yield* skip(tag - 2);
    const after = Uint8Array.from(yield* take(12));
    if (ascii(after, 0) !== "fLaC") return yield* readFrames(after);
    // The block of the stream is 38 bytes long; 8 of them were read.
    return undefined;
  }
  return frameAt(more) ? yield* readFrames(more) : undefined;
}
