/** Derives all generated values from a hash of the request, so that equal requests get equal answers. */
import type { ChatRequest } from "weir";

const LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Hashes the request without its delivery options, so that a stream and a JSON answer have the same content. */
export function seedOf(request: ChatRequest): string {
  const { stream: _stream, style: _style, extra: _extra, ...shaping } = request;
  return sha256(JSON.stringify(shaping)).toString("hex");
}

/** Returns letters and digits for `label` under this seed; at most 32. */
export function makeId(seed: string, label: string, length: number): string {
  const bytes = [...sha256(`${seed}/${label}`)];
  return bytes
    .slice(0, length)
    .map((byte) => LETTERS[byte % LETTERS.length])
    .join("");
}

/** Returns an integer from 0 to `below` - 1. */
export function makeNumber(seed: string, label: string, below: number): number {
  return sha256(`${seed}/${label}`).readUInt32BE() % below;
}

/** Returns 128 characters of base64, like the signature of a vendor. */
export function makeSignature(seed: string, label: string): string {
  return Buffer.concat([1, 2, 3].map((part) => sha256(`${seed}/${label}/${part}`))).toString("base64");
}

function sha256(text: string): Buffer {
  return new Bun.CryptoHasher("sha256").update(text).digest();
}

/** Returns a version 4 UUID. */
export function makeUuid(seed: string): string {
  const hex = sha256(seed).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
