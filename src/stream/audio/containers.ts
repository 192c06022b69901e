/** Lengths from containers whose head, or whose pages, say how many samples there are: wav, FLAC and Ogg. */
import { ascii, type Reading, skip, take, u16le, u32, u32le, u64le } from "./steps.ts";

/** Formats of a wav whose blocks are single samples: PCM, floats, A-law, µ-law, and those with an extension. */
const PLAIN: ReadonlySet<number> = new Set([1, 3, 6, 7, 0xfffe]);

/** `RIFF` or `RF64` was read, with `WAVE`. */
export function* readWav(): Reading {
  let perSecond = 0;
  let rate = 0;
  let isPlain = true;
  let samples = 0;
  for (;;) {
    const head = yield* take(8);
    if (head.length < 8) return undefined;
    const name = ascii(head, 0);
    const length = u32le(head, 4);
    if (name === "data") {
      // A wav that is written as it is made, and an RF64, have no length here.
      const isOpen = length === 0 || length === 0xffffffff;
      const bytes = yield* skip(isOpen ? Number.MAX_SAFE_INTEGER : length);
      if (!isPlain && rate > 0 && samples > 0) return samples / rate;
      return perSecond > 0 ? bytes / perSecond : undefined;
    }
    if (name === "fact" && length >= 4) {
      const fact = yield* take(4);
      samples = fact.length < 4 ? 0 : u32le(fact, 0);
      yield* skip(length - 4 + (length % 2));
      continue;
    }
    if (name !== "fmt " || length < 16) {
      yield* skip(length + (length % 2));
      continue;
    }
    const format = yield* take(16);
    if (format.length < 16) return undefined;
    isPlain = PLAIN.has(u16le(format, 0));
    rate = u32le(format, 4);
    perSecond = isPlain ? rate * u16le(format, 12) : u32le(format, 8);
    yield* skip(length - 16 + (length % 2));
  }
}

/** `fLaC` was read. */
export function* readFlac(): Reading {
  const head = yield* take(4);
  // The first block is that of the stream.
  if (head.length < 4 || (head[0]! & 0x7f) !== 0) return undefined;
  const info = yield* take(34);
  if (info.length < 18) return undefined;
  const rate = u32(info, 10) >>> 12;
  const samples = (info[13]! & 0x0f) * 2 ** 32 + u32(info, 14);
  return rate > 0 && samples > 0 ? samples / rate : undefined;
}

/** Bytes of the head of a page behind `OggS`. */
const PAGE = 23;
const FIRST = 0x02;

interface Track {
  serial: number;
  rate: number;
  /** Samples before the first one that is heard. */
  ahead: number;
  last: number;
}

/** `OggS` was read. Streams that follow each other add up. */
export function* readOgg(): Reading {
  let seconds = 0;
  let track: Track | undefined;
  for (;;) {
    const page = Uint8Array.from(yield* take(PAGE));
    if (page.length < PAGE) break;
    const serial = u32le(page, 10);
    const segments = yield* take(page[22]!);
    let left = segments.reduce((sum, length) => sum + length, 0);
    if (page[1]! & FIRST) {
      const head = yield* take(Math.min(left, 32));
      left -= head.length;
      const found = trackOf(head, serial);
      if (found) {
        seconds += secondsOf(track);
        track = found;
      }
    } else if (track?.serial === serial) {
      // All ones: no packet ends on this page.
      const isOpen = u32le(page, 2) === 0xffffffff && u32le(page, 6) === 0xffffffff;
      if (!isOpen) track.last = Math.max(track.last, u64le(page, 2));
    }
    if ((yield* skip(left)) < left) break;
    const next = yield* take(4);
    if (next.length < 4 || ascii(next, 0) !== "OggS") break;
  }
  return seconds + secondsOf(track) || undefined;
}

function trackOf(head: Uint8Array, serial: number): Track | undefined {
  const make = (rate: number, ahead = 0) => ({ serial, rate, ahead, last: 0 });
  if (head.length >= 19 && ascii(head, 0, 8) === "OpusHead") return make(48_000, u16le(head, 10));
  if (head.length >= 16 && ascii(head, 0, 7) === "\u0001vorbis") return make(u32le(head, 12));
  if (head.length >= 30 && ascii(head, 0, 5) === "\u007fFLAC") return make(u32(head, 27) >>> 12);
  return undefined;
}

function secondsOf(track: Track | undefined): number {
  return track && track.rate > 0 ? Math.max(0, track.last - track.ahead) / track.rate : 0;
}
