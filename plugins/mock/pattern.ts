/**
 * Writes a text that a regular expression accepts, for the plain expressions people put into JSON schemas.
 *
 * The expression is a client's: it is read here and never run, because running it can take for ever.
 */

/** Thrown inside for what is not understood (look-around, back references, Unicode classes) and for what gets too long. */
class Unsupported extends Error {}

/** How many repetitions are tried one by one to get to a length. */
const TRIED = 12;
/** How far all repetitions go beyond their least, where one alone does not get there. */
const EXTRAS = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128];

/**
 * A text of `least` to `most` characters that matches; `undefined` when the expression is none, is not understood, or no such
 * text was found.
 */
export function samplePattern(source: string, least: number, most: number): string | undefined {
  if (source.length > LONGEST_SOURCE || !isExpression(source)) return undefined;
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

/** How often each repetition, by its number, goes beyond its least. */
type Plan = (repetition: number) => number;

/** As short as it gets; then one repetition makes up what is missing; then all grow together. */
function* plans(source: string, least: number): Generator<Plan> {
  yield () => 0;
  const missing = least - [...new Sampler(source, () => 0).sample()].length;
  if (missing > 0)
    for (let chosen = 0; chosen < TRIED; chosen++)
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
/** Characters tried in this order where several are allowed. */
const LIKELY = [..."amock1234567890AMOCKbcdefghijlnpqrstuvwxyz _-.,:/@#+!?", "\n"];
const LONGEST_SOURCE = 1000;
const LONGEST_TEXT = 10_000;

/** Reads an expression once from left to right and writes while it reads. */
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

  /** `a|b`: all are read, the first is written. */
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
        return LIKELY[0]!;
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
    if (text.length * times > LONGEST_TEXT) throw new Unsupported();
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

/** A character a set takes: a likely one, else the first it names. */
function pick(set: string): string {
  const expression = new RegExp(`^${set}$`, "u");
  const found =
    LIKELY.find((letter) => expression.test(letter)) ?? [...set].find((letter) => expression.test(letter));
  if (found === undefined) throw new Unsupported();
  return found;
}
