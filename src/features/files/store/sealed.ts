/**
 * Bytes at rest: a salt, then pieces of 64 KiB, each sealed by itself (AES-256-GCM) with a key that follows from the key of the path,
 * the salt and the name. The number of a piece is its nonce: two objects never share a key, so no nonce is used twice. What a piece
 * authenticates besides its bytes is its number and whether it is the last one, so pieces cannot be swapped, and an end is found missing.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import type { ByteRange } from "../../../core/kept-files.ts";
import { release } from "../../../stream/release.ts";

/** Plain bytes of a piece. */
export const PIECE = 64 * 1024;
const SALT = 32;
const TAG = 16;
const NONCE = 12;
const KEY = 32;

/** The bytes are not those that were sealed under this name. */
export class DamagedBytes extends Error {
  override readonly name = "DamagedBytes";
}

/** Bytes of a sealed object, by those of the plain one. */
export function sealedLength(bytes: number): number {
  return SALT + bytes + Math.max(1, Math.ceil(bytes / PIECE)) * TAG;
}

/** A piece is valid until the next one is asked for. @param key of the path @param name of the object */
export async function* seal(
  key: Uint8Array,
  name: string,
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const salt = randomBytes(SALT);
  yield salt;
  const own = keyOf(key, salt, name);
  const buffer = Buffer.allocUnsafe(PIECE);
  let filled = 0;
  let number = 0;
  for await (const given of bytes) {
    for (let at = 0; at < given.length;) {
      // A full piece waits until it is known not to be the last one.
      if (filled === PIECE) {
        yield* released(sealPiece(own, name, number++, false, buffer));
        filled = 0;
      }
      const taken = given.subarray(at, at + PIECE - filled);
      buffer.set(taken, filled);
      filled += taken.length;
      at += taken.length;
    }
  }
  yield* released(sealPiece(own, name, number, true, buffer.subarray(0, filled)));
}

/** Each piece is valid until the next one is asked for. */
function* released(pieces: readonly Buffer[]): Generator<Buffer, void, undefined> {
  for (const piece of pieces) {
    yield piece;
    release(piece);
  }
}

/** Sealed bytes of an object from one offset to before another one. */
export type ReadSealed = (from: number, to: number) => AsyncIterable<Uint8Array>;

/**
 * Opens pieces one after another.
 * @param length of the plain bytes @throws DamagedBytes before a piece that is damaged
 */
export async function* unseal(
  key: Uint8Array,
  name: string,
  length: number,
  read: ReadSealed,
  { from, to }: ByteRange = { from: 0, to: length },
): AsyncGenerator<Uint8Array, void, undefined> {
  const [salt] = await Array.fromAsync(groups(read(0, SALT), (group) => (group === 0 ? SALT : undefined)));
  const own = keyOf(key, salt!, name);
  const last = Math.max(1, Math.ceil(length / PIECE)) - 1;
  const first = Math.min(last, Math.floor(from / PIECE));
  const end = Math.min(last, Math.max(first, Math.ceil(to / PIECE) - 1));
  const lengthOf = (number: number) => TAG + (number < last ? PIECE : length - last * PIECE);
  // An object that goes on behind its last piece is not what was written.
  const beyond = end === last ? 1 : 0;
  const begin = SALT + first * (PIECE + TAG);
  const sealed = read(begin, SALT + end * (PIECE + TAG) + lengthOf(end) + beyond);
  let number = first;
  for await (const piece of groups(sealed, (group) =>
    first + group <= end ? lengthOf(first + group) : undefined,
  )) {
    const plain = openPiece(own, name, number, number === last, piece);
    const at = number++ * PIECE;
    yield plain.subarray(Math.max(0, from - at), Math.max(0, Math.min(plain.length, to - at)));
  }
}

/**
 * Regroups bytes. A group is valid until the next one is asked for.
 * @param lengthOf of a group; undefined: there are no more @throws DamagedBytes if the bytes end elsewhere
 */
async function* groups(
  bytes: AsyncIterable<Uint8Array>,
  lengthOf: (group: number) => number | undefined,
): AsyncGenerator<Buffer, void, undefined> {
  let number = 0;
  let wanted = lengthOf(number);
  const buffer = Buffer.allocUnsafe(PIECE + TAG);
  let filled = 0;
  for await (const given of bytes) {
    for (let at = 0; at < given.length;) {
      if (wanted === undefined) throw new DamagedBytes("the stored bytes are too long");
      const taken = given.subarray(at, at + wanted - filled);
      buffer.set(taken, filled);
      filled += taken.length;
      at += taken.length;
      if (filled < wanted) continue;
      yield buffer.subarray(0, filled);
      wanted = lengthOf(++number);
      filled = 0;
    }
  }
  if (wanted !== undefined) throw new DamagedBytes("the stored bytes are too short");
}

function keyOf(key: Uint8Array, salt: Uint8Array, name: string): Buffer {
  return Buffer.from(hkdfSync("sha256", key, salt, `weir file ${name}`, KEY));
}

function nonceOf(number: number): Buffer {
  const nonce = Buffer.alloc(NONCE);
  nonce.writeUInt32BE(number, NONCE - 4);
  return nonce;
}

function additional(name: string, number: number, isLast: boolean): Buffer {
  return Buffer.from(`${name} ${number} ${isLast ? "last" : "more"}`);
}

function sealPiece(key: Buffer, name: string, number: number, isLast: boolean, plain: Uint8Array): Buffer[] {
  const cipher = createCipheriv("aes-256-gcm", key, nonceOf(number)).setAAD(additional(name, number, isLast));
  const sealed = cipher.update(plain);
  cipher.final();
  return [sealed, cipher.getAuthTag()];
}

function openPiece(key: Buffer, name: string, number: number, isLast: boolean, sealed: Buffer): Buffer {
  const decipher = createDecipheriv("aes-256-gcm", key, nonceOf(number));
  decipher.setAAD(additional(name, number, isLast));
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG));
  try {
    const plain = decipher.update(sealed.subarray(0, -TAG));
    decipher.final();
    return plain;
  } catch {
    throw new DamagedBytes("the stored bytes are damaged");
  }
}
