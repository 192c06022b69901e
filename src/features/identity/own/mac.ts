/** Codes that only gateways with the secret of the config can make. */
export class Mac {
  readonly #secret: string;

  constructor(secret: string) {
    this.#secret = secret;
  }

  /** @param purpose codes of one purpose are none of another @returns 43 characters */
  of(purpose: string, text: string): string {
    const key = new Bun.CryptoHasher("sha256", this.#secret).update(`weir ${purpose}`).digest();
    return new Bun.CryptoHasher("sha256", key).update(text).digest("base64url");
  }

  isOf(purpose: string, text: string, code: string): boolean {
    const [right, given] = [Buffer.from(this.of(purpose, text)), Buffer.from(code)];
    return right.length === given.length && crypto.timingSafeEqual(right, given);
  }
}
