/** Everything an answer makes up comes out of a hash of its request, so that the same request has the same answer. */
import type { ChatRequest } from "weir";

const LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** A hash over what shapes the answer: not over how it is delivered, so that a stream says what a JSON answer says. */
export function seedOf(request: ChatRequest): string {
  const { stream: _stream, style: _style, extra: _extra, ...shaping } = request;
  return sha256(JSON.stringify(shaping)).toString("hex");
}

/** Letters and digits that belong to `label` under this seed; at most 32. */
export function makeId(seed: string, label: string, length: number): string {
  const bytes = [...sha256(`${seed}/${label}`)];
  return bytes
    .slice(0, length)
    .map((byte) => LETTERS[byte % LETTERS.length])
    .join("");
}

/** A whole number from 0 to `below` - 1. */
export function makeNumber(seed: string, label: string, below: number): number {
  return sha256(`${seed}/${label}`).readUInt32BE() % below;
}

/** Opaque bytes as a vendor's signature looks: base64, 128 characters. */
export function makeSignature(seed: string, label: string): string {
  return Buffer.concat([1, 2, 3].map((part) => sha256(`${seed}/${label}/${part}`))).toString("base64");
}

function sha256(text: string): Buffer {
  return new Bun.CryptoHasher("sha256").update(text).digest();
}

/** A version 4 UUID. */
export function makeUuid(seed: string): string {
  const hex = sha256(seed).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
