/** Lengths of MP3 and AAC (ADTS), whose frames are counted: a head that says how many there are may be missing, or wrong. */
import { ascii, type Reading, skip, take } from "./steps.ts";

interface Frame {
  /** With its head. Bytes. */
  length: number;
  seconds: number;
  /** Samples of a second. */
  hertz: number;
}

/** Most bytes between frames, all together: what has more is not this format. */
const MOST_UNKNOWN = 64 * 1024;

const HEAD = 7;

/** @param head at least 4 bytes of an MP3, or 7 of AAC */
export function frameAt(head: Uint8Array): Frame | undefined {
  if (head.length < HEAD || head[0] !== 0xff || (head[1]! & 0xe0) !== 0xe0) return undefined;
  return (head[1]! & 0x06) === 0 ? adtsFrame(head) : mpegFrame(head);
}

/** The first bytes of the file were read: `start`. */
export function* readFrames(start: Uint8Array): Reading {
  let head = Uint8Array.from(start.subarray(0, HEAD));
  let unknown = 0;
  let seconds = 0;
  let isFirst = true;
  let before = start.length - head.length;
  for (;;) {
    const frame = frameAt(head);
    if (!frame) {
      if (head.length < HEAD || ascii(head, 0, 3) === "TAG" || ++unknown > MOST_UNKNOWN) break;
      const next = yield* take(1);
      if (next.length === 0) break;
      head = Uint8Array.from([...head.subarray(1), next[0]!]);
      before = 0;
      continue;
    }
    let left = frame.length - HEAD - before;
    before = 0;
    if (isFirst) {
      const body = yield* take(Math.max(0, Math.min(left, MOST_HEAD)));
      left -= body.length;
      // The frame of a head is silent, and players leave it out.
      const silent = silentSamples(body);
      seconds += silent === undefined ? frame.seconds : -silent / frame.hertz;
      isFirst = false;
    } else seconds += frame.seconds;
    if ((yield* skip(left)) < left) break;
    head = Uint8Array.from(yield* take(HEAD));
    if (head.length === 0) break;
  }
  return unknown > MOST_UNKNOWN || seconds <= 0 ? undefined : seconds;
}

/** Where the head of LAME has the samples that the encoder added, behind `Xing` or `Info`. */
const ADDED = 141;
const MOST_HEAD = ADDED + 3 + 40;

/** What an encoder added, as the head in the first frame says. `undefined`: the frame is none. */
function silentSamples(body: Uint8Array): number | undefined {
  const at = String.fromCharCode(...body.subarray(0, 48)).search(/Xing|Info|VBRI/);
  if (at < 0) return undefined;
  const [high = 0, middle = 0, low = 0] = body.subarray(at + ADDED);
  const hasCount = /^La[mv]|^LAME/i.test(ascii(body, at + 120, 3));
  return hasCount ? (high << 4) + (middle >> 4) + ((middle & 0x0f) << 8) + low : 0;
}

/** kbit/s by index, of MPEG 1 and of 2 and 2.5; layer I, II and III. */
const RATES = {
  one: [
    [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
    [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
    [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  ],
  two: [
    [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
    [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  ],
} as const;

const SAMPLING = [44_100, 48_000, 32_000] as const;

function mpegFrame(head: Uint8Array): Frame | undefined {
  const version = (head[1]! >> 3) & 3;
  const layer = 3 - ((head[1]! >> 1) & 3);
  const sampling = SAMPLING[(head[2]! >> 2) & 3];
  const isOne = version === 3;
  const kilobits = (isOne ? RATES.one : RATES.two)[layer]?.[head[2]! >> 4];
  if (version === 1 || sampling === undefined || !kilobits) return undefined;
  const hertz = sampling / (isOne ? 1 : version === 2 ? 2 : 4);
  const padding = (head[2]! >> 1) & 1;
  const samples = layer === 0 ? 384 : layer === 2 && !isOne ? 576 : 1152;
  const length =
    layer === 0
      ? (Math.floor((12_000 * kilobits) / hertz) + padding) * 4
      : Math.floor((samples * 125 * kilobits) / hertz) + padding;
  return { length, hertz, seconds: samples / hertz };
}

const ADTS_SAMPLING = [
  ...[96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000],
  ...[22_050, 16_000, 12_000, 11_025, 8000, 7350],
] as const;

function adtsFrame(head: Uint8Array): Frame | undefined {
  const hertz = ADTS_SAMPLING[(head[2]! >> 2) & 0x0f];
  const length = ((head[3]! & 3) << 11) | (head[4]! << 3) | (head[5]! >> 5);
  if ((head[1]! & 0xf0) !== 0xf0 || hertz === undefined || length < HEAD) return undefined;
  return { length, hertz, seconds: (1024 * ((head[6]! & 3) + 1)) / hertz };
}
