/** A secret text that does not print itself: not in logs, not in JSON, not in an inspector. */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The only way to the text; used where a header is built or a digest is made. */
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
