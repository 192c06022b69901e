/**
 * Texts at rest: each has a key of its own (AES-256-GCM), which is wrapped by a key that the store does not have. So another wrap key
 * needs no text again. A text cannot be opened as that of another row.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";

/** Beginning of every sealed text. */
const MARK = "we1.";
const NONCE = 12;
const TAG = 16;
const KEY = 32;
/** Tells wrap keys apart. Bytes. */
const ID = 4;
const WRAPPED = NONCE + TAG + KEY;

interface WrapKey {
  readonly id: Buffer;
  readonly key: Buffer;
}

/** Texts are sealed by the first key, and opened by each of them. */
export class Envelope {
  readonly #keys: readonly [WrapKey, ...WrapKey[]];

  /** @param first any text that is hard to guess @param others keys of before */
  constructor(first: string, others: readonly string[] = []) {
    this.#keys = [wrapKey(first), ...others.map(wrapKey)];
  }

  /** @param row what the text belongs to */
  seal(text: string, row: string): string {
    const key = randomBytes(KEY);
    return write(this.#wrap(key, row), encrypt(key, Buffer.from(text), row));
  }

  /** @returns undefined for a text that no key opens, and for that of another row */
  open(sealed: string, row: string): string | undefined {
    const parts = read(sealed);
    const key = parts && this.#unwrap(parts.wrapped, row);
    return key && decrypt(key, parts.sealed, row)?.toString();
  }

  /** The same text by the first key. @returns undefined for one that no key opens */
  rewrap(sealed: string, row: string): string | undefined {
    const parts = read(sealed);
    if (parts?.wrapped.subarray(0, ID).equals(this.#keys[0].id) === true) return sealed;
    const key = parts && this.#unwrap(parts.wrapped, row);
    return key && write(this.#wrap(key, row), parts.sealed);
  }

  #wrap(key: Buffer, row: string): Buffer {
    const [{ id, key: wrap }] = this.#keys;
    return Buffer.concat([id, encrypt(wrap, key, row)]);
  }

  #unwrap(wrapped: Buffer, row: string): Buffer | undefined {
    const found = this.#keys.find(({ id }) => wrapped.subarray(0, ID).equals(id));
    return found && decrypt(found.key, wrapped.subarray(ID), row);
  }
}

/** What a sealed text of a store belongs to. @param key values of the primary key of its row */
export function rowOf(table: string, column: string, key: readonly string[]): string {
  return JSON.stringify([table, column, ...key]);
}

export function isSealed(text: string): boolean {
  return text.startsWith(MARK);
}

function wrapKey(text: string): WrapKey {
  const key = Buffer.from(hkdfSync("sha256", text, "weir", "wrap key of texts at rest", KEY));
  return { key, id: createHash("sha256").update("id").update(key).digest().subarray(0, ID) };
}

function write(wrapped: Buffer, sealed: Buffer): string {
  return MARK + Buffer.concat([wrapped, sealed]).toString("base64url");
}

function read(text: string): { wrapped: Buffer; sealed: Buffer } | undefined {
  if (!isSealed(text)) return undefined;
  const coded = text.slice(MARK.length);
  const bytes = Buffer.from(coded, "base64url");
  if (bytes.toString("base64url") !== coded) return undefined;
  if (bytes.length < ID + WRAPPED + NONCE + TAG) return undefined;
  return { wrapped: bytes.subarray(0, ID + WRAPPED), sealed: bytes.subarray(ID + WRAPPED) };
}

function encrypt(key: Buffer, bytes: Buffer, row: string): Buffer {
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(row));
  const sealed = Buffer.concat([cipher.update(bytes), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

function decrypt(key: Buffer, bytes: Buffer, row: string): Buffer | undefined {
  try {
    const cipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE)).setAAD(Buffer.from(row));
    cipher.setAuthTag(bytes.subarray(NONCE, NONCE + TAG));
    return Buffer.concat([cipher.update(bytes.subarray(NONCE + TAG)), cipher.final()]);
  } catch {
    return undefined;
  }
}
