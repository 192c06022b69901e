/** Values that a client keeps for weir between two requests: it can neither read nor change them. AES-256-GCM. */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { isObject, type JsonObject, parseJson } from "../../../core/json.ts";

const NONCE = 12;
const TAG = 16;

export class Seal {
  /** Of 32 bytes. The first one seals; the others have sealed before. */
  readonly #keys: Uint8Array[] = [randomBytes(32)];

  /** From now on all that is sealed can be opened wherever this key is. @param key 32 bytes, base64url */
  share(key: string): void {
    const bytes = Buffer.from(key, "base64url");
    if (!this.#keys.some((one) => bytes.equals(one))) this.#keys.unshift(bytes);
  }

  /** @returns URL-safe text */
  close(value: JsonObject): string {
    const nonce = randomBytes(NONCE);
    const cipher = createCipheriv("aes-256-gcm", this.#keys[0]!, nonce);
    const sealed = Buffer.concat([cipher.update(JSON.stringify(value), "utf8"), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64url");
  }

  /** @returns undefined for what none of the keys sealed */
  open(text: string): JsonObject | undefined {
    for (const key of this.#keys) {
      const opened = openWith(key, text);
      if (opened) return opened;
    }
    return undefined;
  }
}

function openWith(key: Uint8Array, text: string): JsonObject | undefined {
  const bytes = Buffer.from(text, "base64url");
  // Several texts decode to the same bytes; only the one that was given out counts.
  if (bytes.length <= NONCE + TAG || bytes.toString("base64url") !== text) return undefined;
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE));
    decipher.setAuthTag(bytes.subarray(NONCE, NONCE + TAG));
    const opened = Buffer.concat([decipher.update(bytes.subarray(NONCE + TAG)), decipher.final()]);
    const value = parseJson(opened.toString("utf8"));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** SHA-256 of a value's JSON with sorted members, as base64url. */
export function digestOf(value: unknown): string {
  return new Bun.CryptoHasher("sha256").update(canonical(value)).digest("base64url");
}

/** JSON with sorted members: two spellings of one value are equal. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isObject(value) || isRaw(value)) return JSON.stringify(value) ?? "null";
  const members = Object.keys(value)
    .filter((name) => value[name] !== undefined)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`);
  return `{${members.join(",")}}`;
}

/** A number that is kept as its text. */
function isRaw(value: object): boolean {
  return (JSON as unknown as { isRawJSON(value: unknown): boolean }).isRawJSON(value);
}
