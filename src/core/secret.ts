/** A secret text that is masked in logs, JSON and inspectors. */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The only way to read the text, for building a header or a digest. */
  reveal(): string {
    return this.#text;
  }

  /** SHA-256 of the text as 64 lower-case hexadecimal digits. */
  digest(): string {
    return new Bun.CryptoHasher("sha256").update(this.#text).digest("hex");
  }

  toString(): string {
    return "***";
  }

  toJSON(): string {
    return "***";
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return "Secret(***)";
  }
}
