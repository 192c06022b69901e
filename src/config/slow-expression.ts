/**
 * Regular expressions of the operator that can take exponential or cubic time on a text that a client chooses. A repetition must
 * leave only one way to divide a text among its rounds, and two repetitions must not compete for the same characters.
 */
import { type Fault, faultAt } from "./error.ts";

/** Part of an expression, as far as the time of a match depends on it. */
type Node =
  /** One character: those of a sample that it matches. */
  | { kind: "one"; set: ReadonlySet<string> }
  | { kind: "sequence"; parts: readonly Node[] }
  | { kind: "choice"; options: readonly Node[] }
  | { kind: "repeat"; body: Node; min: number; max: number };

/** Sets are compared by these characters: ASCII, and some beyond it. */
const SAMPLE: readonly string[] = [
  ...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)),
  ..."\u00a0éßЖ中あ한ا‑€😀",
];
/** A repetition of more rounds counts as one without a limit. */
const MANY = 16;
const NOTHING: Node = { kind: "sequence", parts: [] };

/**
 * @param source a valid expression @param flags with which it is used: `u` gives some escapes another meaning
 * @returns a clause, or undefined if its time is bounded by the square of the text
 */
export function slowness(source: string, flags: "" | "u" = ""): string | undefined {
  if (/(?<!\\)(?:\\\\)*\\(?:[1-9]|k<)/.test(source))
    return "it refers back to a group, which can take exponential time";
  const node = new Parser(source, flags).read();
  if (hasAmbiguousRounds(node)) return "a repetition inside a repetition can take exponential time";
  if (hasRivals(node)) return "two repetitions that match the same characters can take very long";
  return undefined;
}

/** Whether a repetition has rounds that can divide a text in several ways: `(a+)+`, `(a|a)*`, `(a?)*`. */
function hasAmbiguousRounds(node: Node): boolean {
  if (node.kind === "one") return false;
  if (node.kind !== "repeat") return childrenOf(node).some(hasAmbiguousRounds);
  const { body, max } = node;
  if (hasAmbiguousRounds(body)) return true;
  if (max < MANY || body.kind === "one") return false;
  if (isNullable(body)) return true;
  return isLoose(body) && !isSeparated(body);
}

/** Whether a body has a part of variable length, or options that begin alike. */
function isLoose(node: Node): boolean {
  if (node.kind === "one") return false;
  if (node.kind === "repeat") return node.min !== node.max || isLoose(node.body);
  if (node.kind === "sequence") return node.parts.some(isLoose);
  const firsts = node.options.map(firstOf);
  const overlap = firsts.some((one, at) => firsts.slice(at + 1).some((other) => meets(one, other)));
  return overlap || node.options.some(isLoose);
}

/** Whether each round begins or ends with a character that nothing else in it matches: `(?:\w+\.)+`. */
function isSeparated(body: Node): boolean {
  if (body.kind !== "sequence" || body.parts.length < 2) return false;
  return [0, body.parts.length - 1].some((place) => {
    const mark = body.parts[place]!;
    const others = body.parts.filter((_, at) => at !== place);
    return mark.kind === "one" && !others.some((part) => meets(mark.set, allOf(part)));
  });
}

/** Whether a sequence has two unlimited repetitions that meet, with nothing between them that the first one does not match. */
function hasRivals(node: Node): boolean {
  if (node.kind === "one") return false;
  if (node.kind !== "sequence") return childrenOf(node).some(hasRivals);
  if (node.parts.some(hasRivals)) return true;
  let open: Set<string> | undefined;
  for (const part of node.parts) {
    const isMany = part.kind === "repeat" && part.max >= MANY;
    if (isMany && open && meets(open, allOf(part))) return true;
    if (isMany) open = new Set([...(open ?? []), ...allOf(part)]);
    else if (open && !isNullable(part) && !meets(open, allOf(part))) open = undefined;
  }
  return false;
}

function childrenOf(node: Exclude<Node, { kind: "one" }>): readonly Node[] {
  if (node.kind === "repeat") return [node.body];
  return node.kind === "sequence" ? node.parts : node.options;
}

function isNullable(node: Node): boolean {
  if (node.kind === "one") return false;
  if (node.kind === "repeat") return node.min === 0 || isNullable(node.body);
  return node.kind === "sequence" ? node.parts.every(isNullable) : node.options.some(isNullable);
}

/** The characters with which a text can begin. */
function firstOf(node: Node): ReadonlySet<string> {
  if (node.kind === "one") return node.set;
  if (node.kind === "repeat") return firstOf(node.body);
  if (node.kind === "choice") return new Set(node.options.flatMap((option) => [...firstOf(option)]));
  const found = new Set<string>();
  for (const part of node.parts) {
    for (const char of firstOf(part)) found.add(char);
    if (!isNullable(part)) break;
  }
  return found;
}

function allOf(node: Node): ReadonlySet<string> {
  return node.kind === "one" ? node.set : new Set(childrenOf(node).flatMap((child) => [...allOf(child)]));
}

function meets(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  for (const char of one) if (other.has(char)) return true;
  return false;
}

/** Reads an expression that the runtime accepts. */
class Parser {
  readonly #source: string;
  readonly #flags: "" | "u";
  #at = 0;

  constructor(source: string, flags: "" | "u") {
    this.#source = source;
    this.#flags = flags;
  }

  read(): Node {
    const options: Node[] = [];
    let parts: Node[] = [];
    for (;;) {
      const char = this.#source[this.#at];
      if (char === undefined || char === ")") break;
      if (char === "|") {
        this.#at++;
        options.push({ kind: "sequence", parts });
        parts = [];
      } else parts.push(this.#repeated(this.#atom()));
    }
    const last: Node = { kind: "sequence", parts };
    return options.length === 0 ? last : { kind: "choice", options: [...options, last] };
  }

  #atom(): Node {
    const rest = this.#source.slice(this.#at);
    const assertion = /^(?:\^|\$|\\[bB])/.exec(rest);
    if (assertion) return this.#skip(assertion[0], NOTHING);
    const group = /^\((?:\?(?:<?[=!]|<[^>]+>|[a-z-]*:))?/.exec(rest);
    if (group) {
      this.#at += group[0].length;
      const body = this.read();
      this.#at++;
      return body;
    }
    const property = this.#flags === "u" ? /^\\[pP]\{[^}]*\}/.exec(rest)?.[0] : undefined;
    const one =
      property ??
      /^(?:\\(?:u\{[^}]+\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[A-Za-z]|[\s\S])|\[(?:\\[\s\S]|[^\]\\])*\]|[\s\S])/u.exec(
        rest,
      )![0];
    const expression = new RegExp(`^(?:${one})$`, this.#flags);
    return this.#skip(one, { kind: "one", set: new Set(SAMPLE.filter((char) => expression.test(char))) });
  }

  #repeated(body: Node): Node {
    const found = /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/.exec(this.#source.slice(this.#at));
    if (!found) return body;
    const [text, sign, least = "0", comma, most = ""] = found;
    this.#at += text.length;
    if (sign !== undefined)
      return { kind: "repeat", body, min: sign === "+" ? 1 : 0, max: sign === "?" ? 1 : Infinity };
    const min = Number(least);
    return { kind: "repeat", body, min, max: comma === "" ? min : most === "" ? Infinity : Number(most) };
  }

  #skip(text: string, node: Node): Node {
    this.#at += text.length;
    return node;
  }
}

function expressionFault(pattern: string): string | undefined {
  if (pattern === "") return "the pattern is empty";
  try {
    new RegExp(pattern);
    const clause = slowness(pattern);
    return clause === undefined ? undefined : `the pattern ${JSON.stringify(pattern)} is refused: ${clause}`;
  } catch (cause) {
    return cause instanceof Error ? `the pattern is not valid: ${cause.message}` : "the pattern is not valid";
  }
}

/** Faults of the regular expressions in a member of a section. */
export function expressionFaults(section: string, written: unknown, member: string): Fault[] {
  const patterns = (written as Record<string, readonly string[] | undefined>)[member] ?? [];
  return patterns.flatMap((pattern, index) => faultAt([section, member, index], expressionFault(pattern)));
}
