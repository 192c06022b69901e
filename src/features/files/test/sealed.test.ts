/** Bytes at rest: what was sealed is opened, and nothing else is. */
import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { DamagedBytes, PIECE, seal, sealedLength, unseal } from "../store/sealed.ts";

const KEY = randomBytes(32);
const LENGTHS = [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE, 3 * PIECE + 17];

const sealed = async (plain: Uint8Array, name = "a") => {
  const pieces = async function* () {
    for (let at = 0; at < plain.length; at += 10_007) yield plain.subarray(at, at + 10_007);
  };
  // A piece is valid until the next one is asked for.
  return Buffer.concat(await Array.fromAsync(seal(KEY, name, pieces()), (piece) => Buffer.from(piece)));
};

const opened = async (
  bytes: Uint8Array,
  length: number,
  range?: { from: number; to: number },
  name = "a",
) => {
  const read = async function* (from: number, to: number) {
    for (let at = from; at < Math.min(to, bytes.length); at += 33_333)
      yield bytes.subarray(at, Math.min(at + 33_333, to));
  };
  return Buffer.concat(await Array.fromAsync(unseal(KEY, name, length, read, range)));
};

test.each(LENGTHS)("%i bytes come back, and each range of them", async (length) => {
  const plain = randomBytes(length);
  const bytes = await sealed(plain);
  expect(bytes.length).toBe(sealedLength(length));
  expect((await opened(bytes, length)).equals(plain)).toBe(true);
  for (let tries = 0; tries < 30; tries++) {
    const from = Math.floor(Math.random() * length);
    const to = from + Math.floor(Math.random() * (length - from + 1));
    expect((await opened(bytes, length, { from, to })).equals(plain.subarray(from, to))).toBe(true);
  }
});

test("the same bytes are never sealed alike", async () => {
  const plain = Buffer.alloc(PIECE, 7);
  const [one, other] = [await sealed(plain), await sealed(plain)];
  expect(one.equals(other)).toBe(false);
  // The same keystream would show in the exclusive or of both.
  const mixed = one.subarray(32).map((byte, index) => byte ^ other[index + 32]!);
  expect(mixed.filter((byte) => byte === 0).length).toBeLessThan(PIECE / 64);
});

test("damage is an error", async () => {
  const length = 3 * PIECE + 17;
  const plain = randomBytes(length);
  const bytes = await sealed(plain);
  const fails = async (damaged: Uint8Array, claimed = length, name?: string) =>
    expect(
      await opened(damaged, claimed, undefined, name).then(
        () => "opened",
        (cause: unknown) => cause,
      ),
    ).toBeInstanceOf(DamagedBytes);
  for (const at of [0, 31, 32, 32 + PIECE, bytes.length - 1]) {
    const flipped = Buffer.from(bytes);
    flipped[at]! ^= 1;
    await fails(flipped);
  }
  const piece = PIECE + 16;
  // Cut at the end of a piece, as a whole object with fewer pieces would be; cut elsewhere; with more at its end.
  await fails(bytes.subarray(0, 32 + 3 * piece));
  await fails(bytes.subarray(0, 32 + 3 * piece), 3 * PIECE);
  await fails(bytes.subarray(0, -1));
  await fails(bytes.subarray(0, 10));
  await fails(Buffer.concat([bytes, Buffer.alloc(1)]));
  const swapped = Buffer.from(bytes);
  bytes.copy(swapped, 32, 32 + piece, 32 + 2 * piece);
  bytes.copy(swapped, 32 + piece, 32, 32 + piece);
  await fails(swapped);
  await fails(bytes, length, "b");
});
