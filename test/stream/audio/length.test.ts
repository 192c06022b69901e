/** How long audio is, by its container, and that no bytes stop the reader. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type AudioLength, AudioLengthReader } from "../../../src/stream/audio/length.ts";
import { SAMPLES } from "./samples.ts";

/** @param most longest piece in which the bytes arrive */
function lengthOf(bytes: Uint8Array, most = 61): AudioLength {
  const reader = new AudioLengthReader();
  for (let at = 0; at < bytes.length; at += most) reader.push(bytes.subarray(at, at + most));
  return reader.end();
}

const u16 = (value: number) => [value & 255, value >> 8];
const u32 = (value: number) => [...u16(value & 0xffff), ...u16(value >>> 16)];
const letters = (text: string) => [...text].map((letter) => letter.charCodeAt(0));

/** @param length of the data, as the head says it */
function wav(seconds: number, { format = 1, rate = 8000, channels = 1, bits = 16, length = -1 } = {}) {
  const block = (channels * bits) / 8;
  const data = new Uint8Array(Math.round(seconds * rate) * block);
  const fmt = [
    ...u16(format),
    ...u16(channels),
    ...u32(rate),
    ...u32(rate * block),
    ...u16(block),
    ...u16(bits),
  ];
  const said = length < 0 ? data.length : length;
  const head = [...letters("RIFF"), ...u32(0), ...letters("WAVE"), ...letters("LIST"), ...u32(3), 1, 2, 3, 0];
  return Uint8Array.from([
    ...head,
    ...letters("fmt "),
    ...u32(16),
    ...fmt,
    ...letters("data"),
    ...u32(said),
    ...data,
  ]);
}

/** @param granule samples up to the end of the page; -1: no packet ends */
function page(body: number[], granule: number, isFirst = false, serial = 7): number[] {
  const at = granule < 0 ? [...u32(0xffffffff), ...u32(0xffffffff)] : [...u32(granule), ...u32(0)];
  const segments = [...Array.from({ length: Math.floor(body.length / 255) }, () => 255), body.length % 255];
  return [
    ...[...letters("OggS"), 0, isFirst ? 2 : 0, ...at, ...u32(serial), ...u32(0), ...u32(0)],
    ...[segments.length, ...segments, ...body],
  ];
}

const VORBIS = [1, ...letters("vorbis"), 0, 0, 0, 0, 1, ...u32(44_100), ...Array<number>(14).fill(0)];
const silence = (length: number) => Array<number>(length).fill(0);

describe("the length of audio", () => {
  test.each(SAMPLES)("%s", (_about, seconds, base64) => {
    const bytes = Bun.zstdDecompressSync(Buffer.from(base64, "base64"));
    for (const most of [1, 61, bytes.length]) {
      const found = lengthOf(bytes, most);
      expect(found.isEstimated).toBe(false);
      expect(Math.abs(found.seconds - seconds)).toBeLessThan(seconds / 100);
    }
  });

  test.each([
    ["of 16 bits", {}],
    ["of 24 bits in stereo", { bits: 24, channels: 2, rate: 48_000 }],
    ["of µ-law", { format: 7, bits: 8 }],
    ["that was written as it was made", { length: 0xffffffff }],
    ["without a length", { length: 0 }],
  ])("a wav %s", (_about, options) => {
    expect(lengthOf(wav(1.25, options), 4096)).toEqual({ seconds: 1.25, isEstimated: false });
  });

  test("a wav that says more than it has is as long as what it has", () => {
    expect(lengthOf(wav(1.25, { length: 2_000_000_000 }), 999).seconds).toBe(1.25);
  });

  test("Vorbis, with pages that end no packet, and a second stream behind the first", () => {
    const first = [...page(VORBIS, 0, true), ...page(silence(600), -1), ...page(silence(300), 44_100 * 2)];
    const second = [...page(VORBIS, 0, true, 8), ...page(silence(300), 44_100, false, 8)];
    expect(lengthOf(Uint8Array.from(first))).toEqual({ seconds: 2, isEstimated: false });
    expect(lengthOf(Uint8Array.from([...first, ...second]))).toEqual({ seconds: 3, isEstimated: false });
  });

  test("tags with a picture are passed over", () => {
    const [, seconds, base64] = SAMPLES.find(([about]) => about === "MP3 without a head")!;
    const frames = Bun.zstdDecompressSync(Buffer.from(base64, "base64"));
    const tag = Uint8Array.from([...letters("ID3"), 3, 0, 0, 0, 2, 0, 0, ...silence(32_768)]);
    expect(lengthOf(Buffer.concat([tag, frames]), 5000).seconds).toBeCloseTo(seconds, 2);
  });

  test("what says no length is estimated at 4 kB for a second", () => {
    for (const bytes of [new Uint8Array(20_000), Buffer.from("no audio, ".repeat(2000))])
      expect(lengthOf(bytes, 777)).toEqual({ seconds: 5, isEstimated: true });
    expect(lengthOf(new Uint8Array(0))).toEqual({ seconds: 0, isEstimated: true });
  });

  test("a length that the bytes cannot have is not believed", () => {
    const page2 = (granule: number) =>
      Uint8Array.from([...page(VORBIS, 0, true), ...page(silence(4000), granule)]);
    expect(lengthOf(page2(44_100 * 100_000)).isEstimated).toBe(true);
    expect(lengthOf(page2(44_100 * 10)).isEstimated).toBe(false);
    // 0.1 s in 8 MB: nothing is as loud as this.
    const padded = Buffer.concat([wav(0.1), new Uint8Array(8_000_000)]);
    expect(lengthOf(padded, 100_000)).toEqual({ seconds: padded.length / 4000, isEstimated: true });
  });
});

describe("hostile bytes", () => {
  const STARTS = [
    ...[wav(0.1), Uint8Array.from([...page(VORBIS, 0, true), ...page(silence(30), 4410)])],
    ...SAMPLES.map(([, , base64]) => Bun.zstdDecompressSync(Buffer.from(base64, "base64")).subarray(0, 3000)),
  ];

  test("neither throw nor stop the reader, changed, cut or repeated", () => {
    const piece = fc.record({ at: fc.nat(2999), value: fc.nat(255) });
    fc.assert(
      fc.property(
        fc.constantFrom(...STARTS),
        fc.array(piece, { maxLength: 12 }),
        fc.nat(3000),
        fc.uint8Array({ maxLength: 64 }),
        (start, changes, cut, more) => {
          const bytes = Uint8Array.from(start);
          for (const { at, value } of changes) bytes[at % Math.min(bytes.length, 200)] = value;
          const { seconds } = lengthOf(Buffer.concat([bytes.subarray(0, cut), more, bytes]), 97);
          expect(Number.isFinite(seconds)).toBe(true);
          expect(seconds).toBeGreaterThanOrEqual(0);
        },
      ),
      { numRuns: 3000 },
    );
  });

  test("25 MB of what looks like heads take no time", () => {
    const began = performance.now();
    const filled = (start: number[], unit: number[]) =>
      Buffer.concat([Uint8Array.from(start), Buffer.alloc(25_000_000, Uint8Array.from(unit))]);
    const ogg = page([], 0);
    const sizes = [
      filled([0xff, 0xfb, 0x10, 0xc4], [0xff]),
      filled([...page(VORBIS, 0, true)], ogg),
      filled([0, 0, 0, 12, ...letters("ftypmp42")], [0, 0, 0, 8, ...letters("free")]),
      filled([0x1a, 0x45, 0xdf, 0xa3, 0x80], [0xec, 0x80]),
    ];
    for (const bytes of sizes) lengthOf(bytes, 65_536);
    expect(performance.now() - began).toBeLessThan(40_000);
  });
});
