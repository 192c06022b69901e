/** Seals texts with a key that follows from a secret which all nodes share: those that a browser keeps, and those in the store. */

const NONCE_BYTES = 12;

export class Sealer {
  readonly #key: Promise<CryptoKey>;

  /** @param purpose keys of different purposes have nothing in common */
  constructor(secret: string, purpose: string) {
    this.#key = keyFrom(secret, purpose);
  }

  /** @param of what the text belongs to: it cannot be unsealed as that of something else */
  async seal(text: string, of = ""): Promise<string> {
    const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
    const sealed = await crypto.subtle.encrypt(how(iv, of), await this.#key, new TextEncoder().encode(text));
    return Buffer.concat([iv, new Uint8Array(sealed)]).toString("base64url");
  }

  /** @returns undefined for a text that no node has sealed with this key, or for something else */
  async unseal(text: string, of = ""): Promise<string | undefined> {
    const bytes = new Uint8Array(Buffer.from(text, "base64url"));
    if (bytes.length <= NONCE_BYTES) return undefined;
    try {
      const [iv, sealed] = [bytes.subarray(0, NONCE_BYTES), bytes.subarray(NONCE_BYTES)];
      return new TextDecoder().decode(await crypto.subtle.decrypt(how(iv, of), await this.#key, sealed));
    } catch {
      return undefined;
    }
  }
}

function how(iv: Uint8Array<ArrayBuffer>, of: string) {
  return { name: "AES-GCM", iv, additionalData: new TextEncoder().encode(of) };
}

async function keyFrom(secret: string, purpose: string): Promise<CryptoKey> {
  const encode = (text: string) => new TextEncoder().encode(text);
  const base = await crypto.subtle.importKey("raw", encode(secret), "HKDF", false, ["deriveKey"]);
  const derived = { name: "HKDF", hash: "SHA-256", salt: encode("weir"), info: encode(purpose) };
  return crypto.subtle.deriveKey(derived, base, { name: "AES-GCM", length: 256 }, false, [
    "encrypt",
    "decrypt",
  ]);
}
