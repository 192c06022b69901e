/**
 * Generates a text that matches a regular expression, for the simple expressions in JSON schemas.
 *
 * A client sent the expression, so it is parsed and never run: matching can take unlimited time.
 */

/** Internal error for unsupported syntax (look-around, back references, Unicode classes) and for texts that are too long. */
class Unsupported extends Error {}

/** Number of repetitions that are extended one by one to reach a length. */
const MAX_EXTENDED = 12;
/** Extra counts for all repetitions, if extending a single one does not reach the length. */
const EXTRAS = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128];

/**
 * Returns a matching text of `least` to `most` characters; `undefined` if the expression is invalid or not supported, or if
 * no such text was found.
 */
export function samplePattern(source: string, least: number, most: number): string | undefined {
  if (source.length > MAX_SOURCE || !isExpression(source)) return undefined;
  try {
    for (const extraOf of plans(source, least)) {
      const text = new Sampler(source, extraOf).sample();
      const { length } = [...text];
      if (length >= least && length <= most) return text;
    }
  } catch (error) {
    if (!(error instanceof Unsupported)) throw error;
  }
  return undefined;
}

/** Returns the extra count of a repetition, by its number. */
type Plan = (repetition: number) => number;

/** First the shortest text, then one repetition supplies the missing length, then all grow together. */
function* plans(source: string, least: number): Generator<Plan> {
  yield () => 0;
  const missing = least - [...new Sampler(source, () => 0).sample()].length;
  if (missing > 0)
    for (let chosen = 0; chosen < MAX_EXTENDED; chosen++)
      yield (repetition) => (repetition === chosen ? missing : 0);
  for (const extra of EXTRAS) yield () => extra;
}

function isExpression(source: string): boolean {
  try {
    return new RegExp(source, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

const CLASSES: Readonly<Record<string, string>> = { d: "0-9", w: "A-Za-z0-9_", s: " " };
const CONTROLS: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", f: "\f", v: "\v", "0": "\0" };
/** Characters in order of preference. */
const PREFERRED = [..."amock1234567890AMOCKbcdefghijlnpqrstuvwxyz _-.,:/@#+!?", "\n"];
const MAX_SOURCE = 1000;
const MAX_TEXT = 10_000;

/** Parses an expression from left to right and generates the text at the same time. */
class Sampler {
  readonly #source: string[];
  readonly #extraOf: Plan;
  #at = 0;
  #repetitions = 0;

  constructor(source: string, extraOf: Plan) {
    this.#source = [...source];
    this.#extraOf = extraOf;
  }

  sample(): string {
    const text = this.#alternatives();
    if (this.#at < this.#source.length) throw new Unsupported();
    return text;
  }

  #peek(): string | undefined {
    return this.#source[this.#at];
  }

  #take(): string {
    const letter = this.#source[this.#at++];
    if (letter === undefined) throw new Unsupported();
    return letter;
  }

  /** `a|b`: parses all alternatives and returns the first. */
  #alternatives(): string {
    const first = this.#sequence();
    while (this.#peek() === "|") {
      this.#take();
      this.#sequence();
    }
    return first;
  }

  #sequence(): string {
    let text = "";
    while (this.#peek() !== undefined && this.#peek() !== "|" && this.#peek() !== ")")
      text += this.#repeated(this.#atom());
    return text;
  }

  #atom(): string {
    const letter = this.#take();
    switch (letter) {
      case "^":
      case "$":
        return "";
      case ".":
        return PREFERRED[0]!;
      case "(":
        return this.#group();
      case "[":
        return this.#set();
      case "\\":
        return this.#escape();
      default:
        return letter;
    }
  }

  #group(): string {
    if (this.#peek() === "?") {
      this.#take();
      const kind = this.#take();
      if (kind === "<") this.#groupName();
      else if (kind !== ":") throw new Unsupported();
    }
    const text = this.#alternatives();
    this.#take();
    return text;
  }

  #groupName(): void {
    if (this.#peek() === "=" || this.#peek() === "!") throw new Unsupported();
    while (this.#take() !== ">");
  }

  #set(): string {
    const negated = this.#peek() === "^";
    if (negated) this.#take();
    let members = "";
    while (this.#peek() !== "]") {
      const letter = this.#take();
      members += letter === "\\" ? `\\${this.#take()}` : letter;
    }
    this.#take();
    return pick(`[${negated ? "^" : ""}${members}]`);
  }

  #escape(): string {
    const letter = this.#take();
    if (CLASSES[letter]) return pick(`[${CLASSES[letter]}]`);
    if (CLASSES[letter.toLowerCase()]) return pick(`[^${CLASSES[letter.toLowerCase()]}]`);
    if (CONTROLS[letter]) return CONTROLS[letter]!;
    if (/[a-z0-9]/i.test(letter)) throw new Unsupported();
    return letter;
  }

  #repeated(text: string): string {
    const [least, most] = this.#bounds();
    if (this.#peek() === "?" && !(least === 1 && most === 1)) this.#take();
    const extra = most > least ? this.#extraOf(this.#repetitions++) : 0;
    const times = Math.min(least + extra, most);
    if (text.length * times > MAX_TEXT) throw new Unsupported();
    return text.repeat(times);
  }

  #bounds(): [number, number] {
    const rest = this.#source.slice(this.#at, this.#at + 24).join("");
    const counted = /^\{(\d+)(,?)(\d*)\}/.exec(rest);
    if (counted) {
      this.#at += counted[0].length;
      const least = Number(counted[1]);
      return [least, counted[2] ? (counted[3] ? Number(counted[3]) : Infinity) : least];
    }
    const simple: Record<string, [number, number]> = { "*": [0, Infinity], "+": [1, Infinity], "?": [0, 1] };
    const found = simple[this.#peek() ?? ""];
    if (found) this.#take();
    return found ?? [1, 1];
  }
}

/** Returns a character of a set: a preferred one, else the first it names. */
function pick(set: string): string {
  const expression = new RegExp(`^${set}$`, "u");
  const found =
    PREFERRED.find((letter) => expression.test(letter)) ?? [...set].find((letter) => expression.test(letter));
  if (found === undefined) throw new Unsupported();
  return found;
}
