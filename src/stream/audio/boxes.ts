/** Lengths from MP4 (m4a, QuickTime) and from Matroska (WebM), which nest their parts. */
import { ascii, type Reading, skip, type Step, take, u32, u64 } from "./steps.ts";

/** The head of a file, at least 8 bytes, was read: `start`. Its first box is `ftyp`. */
export function* readMp4(start: Uint8Array): Reading {
  let head = Uint8Array.from(start);
  for (let isFirst = true; ; isFirst = false) {
    if (!isFirst) head = Uint8Array.from(yield* take(8));
    if (head.length < 8) return undefined;
    const type = ascii(head, 4);
    if (type === "moov") continue;
    const length = yield* lengthOf(u32(head, 0));
    if (length === undefined) return undefined;
    if (type === "mvhd" || type === "mehd") {
      const seconds = yield* durationIn(type, length);
      if (seconds !== undefined) return seconds;
    } else if (type !== "mvex") yield* skip(length - (isFirst ? start.length - 8 : 0));
  }
}

/** What is left of a box behind its length and its type. */
function* lengthOf(length: number): Step<number | undefined> {
  if (length === 0) return Number.MAX_SAFE_INTEGER;
  if (length !== 1) return length < 8 ? undefined : length - 8;
  const long = yield* take(8);
  const whole = long.length < 8 ? 0 : u64(long, 0);
  return whole < 16 || whole > Number.MAX_SAFE_INTEGER ? undefined : whole - 16;
}

function* durationIn(type: string, length: number): Step<number | undefined> {
  const body = Uint8Array.from(yield* take(Math.min(length, 32)));
  yield* skip(length - body.length);
  if (type !== "mvhd" || body.length < 20) return undefined;
  const isLong = body[0] === 1;
  if (isLong && body.length < 32) return undefined;
  const scale = u32(body, isLong ? 20 : 12);
  const duration = isLong ? u64(body, 24) : u32(body, 16);
  const isUnknown = duration === 0 || (isLong ? duration >= 2 ** 53 : duration === 0xffffffff);
  return scale > 0 && !isUnknown ? duration / scale : undefined;
}

/** Elements of Matroska that are entered: Segment, Info, Cluster and BlockGroup. */
const ENTERED: ReadonlySet<number> = new Set([0x18538067, 0x1549a966, 0x1f43b675, 0xa0]);
const SCALE = 0x2ad7b1;
const DURATION = 0x4489;
const TIME = 0xe7;
const BLOCKS: ReadonlySet<number> = new Set([0xa1, 0xa3]);

/** The id of the first element was read. Without a duration, the times of the blocks say it. */
export function* readMatroska(): Reading {
  const first = yield* variable(false);
  if (first === undefined) return undefined;
  yield* skip(first);
  let scale = 1_000_000;
  let duration = 0;
  let cluster = 0;
  let last = 0;
  for (;;) {
    const id = yield* variable(true);
    const length = id === undefined ? undefined : yield* variable(false);
    if (id === undefined || length === undefined) break;
    if (ENTERED.has(id)) {
      // A cluster begins: what is known is enough.
      if (id === 0x1f43b675 && duration > 0) break;
      continue;
    }
    const body = yield* take(Math.min(length, 12));
    if (body.length < Math.min(length, 12)) break;
    if (id === SCALE) scale = whole(body) || scale;
    else if (id === DURATION) duration = float(body);
    else if (id === TIME) cluster = whole(body);
    else if (BLOCKS.has(id) && body.length >= 4) last = Math.max(last, cluster + timeOf(body));
    if ((yield* skip(length - body.length)) < length - body.length) break;
  }
  const seconds = ((duration || last) * scale) / 1e9;
  return seconds > 0 && Number.isFinite(seconds) ? seconds : undefined;
}

/** A number whose first byte says how long it is. @param isId the bits that say so belong to it */
function* variable(isId: boolean): Step<number | undefined> {
  const first = (yield* take(1))[0];
  if (first === undefined || first === 0) return undefined;
  const more = Math.clz32(first) - 24;
  let value = isId ? first : first & (0x7f >> more);
  let isUnknown = value === 0x7f >> more;
  const rest = yield* take(more);
  if (rest.length < more) return undefined;
  for (const byte of rest) {
    value = value * 256 + byte;
    isUnknown &&= byte === 0xff;
  }
  // A length of ones: the element lasts to its next sibling.
  return isId || !isUnknown ? value : Number.MAX_SAFE_INTEGER;
}

const whole = (bytes: Uint8Array) => bytes.reduce((sum, byte) => sum * 256 + byte, 0);

function float(bytes: Uint8Array): number {
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const value = bytes.length === 4 ? data.getFloat32(0) : bytes.length === 8 ? data.getFloat64(0) : 0;
  return Number.isFinite(value) && value > 0 ? value : 0;
}

/** Behind the number of the track: the time after that of the cluster. */
function timeOf(block: Uint8Array): number {
  const at = Math.clz32(block[0]! || 1) - 23;
  return at + 2 <= block.length ? new DataView(block.buffer, block.byteOffset).getInt16(at) : 0;
}
