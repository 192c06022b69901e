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
