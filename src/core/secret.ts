/** A secret text that is masked in logs, JSON and inspectors. */

/** A text that consists of values from elsewhere, which may change while weir runs. */
export interface LiveText {
  /** As people may see it: with references in place of values. */
  readonly written: string;
  /** The text with the values that are known now. */
  read(): string;
  /** Reads the values again where they come from, unless that was done a moment ago. It does not throw. */
  renew(): Promise<void>;
}

export class Secret {
  readonly #text: string | LiveText;

  constructor(text: string | LiveText) {
    this.#text = text;
  }

  /** Set for a text whose value may change: what is derived from {@link reveal} is then to be derived again. */
  get live(): LiveText | undefined {
    return typeof this.#text === "string" ? undefined : this.#text;
  }

  /** The only way to read the text, for building a header or a digest. */
  reveal(): string {
    return typeof this.#text === "string" ? this.#text : this.#text.read();
  }

  /** SHA-256 of the text as 64 lower-case hexadecimal digits. */
  digest(): string {
    return new Bun.CryptoHasher("sha256").update(this.reveal()).digest("hex");
  }

  toString(): string {
    return this.live?.written ?? "***";
  }

  toJSON(): string {
    return this.toString();
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `Secret(${this.toString()})`;
  }
}
