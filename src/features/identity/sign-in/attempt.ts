/**
 * One attempt to sign in, between the way to the provider and the way back. The browser keeps it, sealed: any node can go on with it,
 * and weir stores nothing for somebody who only opens the page.
 */
import { isObject, parseJson } from "../../../core/json.ts";

export interface Attempt {
  readonly provider: string;
  readonly state: string;
  readonly nonce: string;
  /** Of PKCE (RFC 7636). */
  readonly verifier: string;
  /** Own path to which the browser goes then. */
  readonly to: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export const ATTEMPT_MS = 600_000;

const NONCE_BYTES = 12;
/** Longest own path: the request of a program for a code is one. */
const MOST_TARGET = 2_000;

/** 256 random bits. */
export function randomText(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url");
}

/** Seals attempts with a key that follows from the secret which all nodes share with the provider. */
export class Sealer {
  readonly #key: Promise<CryptoKey>;

  constructor(secret: string) {
    this.#key = keyFrom(secret);
  }

  async seal(attempt: Attempt): Promise<string> {
    const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
    const plain = new TextEncoder().encode(JSON.stringify(attempt));
    const sealed = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, await this.#key, plain);
    return Buffer.concat([iv, new Uint8Array(sealed)]).toString("base64url");
  }

  /** @returns undefined for a text that no node has sealed */
  async unseal(text: string): Promise<Attempt | undefined> {
    const bytes = new Uint8Array(Buffer.from(text, "base64url"));
    if (bytes.length <= NONCE_BYTES) return undefined;
    try {
      const iv = bytes.subarray(0, NONCE_BYTES);
      const plain = await crypto.subtle.decrypt(
        { name: "AES-GCM", iv },
        await this.#key,
        bytes.subarray(NONCE_BYTES),
      );
      const attempt = parseJson(new TextDecoder().decode(plain));
      return isObject(attempt) ? (attempt as unknown as Attempt) : undefined;
    } catch {
      return undefined;
    }
  }
}

async function keyFrom(secret: string): Promise<CryptoKey> {
  const encode = (text: string) => new TextEncoder().encode(text);
  const base = await crypto.subtle.importKey("raw", encode(secret), "HKDF", false, ["deriveKey"]);
  const how = { name: "HKDF", hash: "SHA-256", salt: encode("weir"), info: encode("attempts to sign in") };
  return crypto.subtle.deriveKey(how, base, { name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]);
}

/** A path of weir's own, whatever the text is: no other host, no other scheme. */
export function ownTarget(text: string | null, url: string): string {
  const fallback = "/console";
  if (
    text === null ||
    text.length > MOST_TARGET ||
    !/^\/(?![/\\])[\x21-\x7e]*$/.test(text) ||
    text.includes("\\")
  )
    return fallback;
  const target = URL.parse(text, url);
  if (!target || target.origin !== new URL(url).origin) return fallback;
  const isOwn = /^\/(console(\/|$)|device$|oauth\/authorize$)/.test(target.pathname);
  return isOwn ? target.pathname + target.search : fallback;
}
