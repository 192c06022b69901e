/** Lines at rest, as one line of base64url: AES-256-GCM with a key of the batch. A line cannot be opened as that of another batch or number. */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";

const NONCE = 12;
const TAG = 16;

export class LineSeal {
  readonly #key: Buffer;

  /** @param secret of the store, base64url @param batch id */
  constructor(secret: string, batch: string) {
    this.#key = createHmac("sha256", Buffer.from(secret, "base64url")).update(`batch ${batch}`).digest();
  }

  seal(line: Uint8Array, number: number): Uint8Array {
    const nonce = randomBytes(NONCE);
    const cipher = createCipheriv("aes-256-gcm", this.#key, nonce).setAAD(Buffer.from(String(number)));
    const sealed = Buffer.concat([nonce, cipher.update(line), cipher.final(), cipher.getAuthTag()]);
    return Buffer.from(sealed.toString("base64url"));
  }

  /** @throws Error for bytes that are damaged, or of another line */
  open(sealed: Uint8Array, number: number): Uint8Array {
    const text = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength).toString("latin1");
    const bytes = Buffer.from(text.trimEnd(), "base64url");
    const decipher = createDecipheriv("aes-256-gcm", this.#key, bytes.subarray(0, NONCE));
    decipher.setAAD(Buffer.from(String(number)));
    decipher.setAuthTag(bytes.subarray(-TAG));
    return Buffer.concat([decipher.update(bytes.subarray(NONCE, -TAG)), decipher.final()]);
  }
}
