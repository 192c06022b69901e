/** The rules for secrets, ready to run: expressions are made when their keyword is met first. */
import { Automaton } from "../automaton.ts";
import { isDigit, isWord } from "../classes.ts";
import type { AllowData, RuleData } from "./rule.ts";
import data from "./rules.json" with { type: "json" };

/** Keys of weir itself. */
const OWN: RuleData = {
  id: "weir-key",
  source: "\\b(weir_(?:sk|pt)_[A-Za-z0-9_-]{20,128})",
  keywords: ["weir_sk_", "weir_pt_"],
};

type Range = readonly [start: number, end: number];

/** A match of a rule in a text. */
export interface Match {
  readonly whole: Range;
  /** What the rule measures. */
  readonly secret: Range;
  /** What may not be read. */
  readonly value: Range;
}

/** What is looked at first behind a keyword, and at most. */
const LONGEST = 1_400;
const LONGEST_PEM = 16_384;
const LONGEST_NAME = 50;
const isNamePart = (code: number) => isWord(code) || code === 0x2d || code === 0x2e;

/** Where a name begins: it can go on in front of its keyword. @param least where it begins at the earliest */
export function nameStart(text: string, keyword: number, least = 0): number {
  const first = Math.max(least, keyword - LONGEST_NAME);
  let start = keyword;
  while (start > first && isNamePart(text.charCodeAt(start - 1))) start--;
  return start;
}

export class Rule {
  readonly data: RuleData;
  readonly #allow: readonly Allow[];
  #expression: RegExp | undefined;
  /** A match begins where a word begins. */
  readonly #startsWord: boolean;
  /** The character with which all matches begin, in lower case; -1: there are several. */
  readonly #first: number;
  /** How many digits begin all matches. */
  readonly #digits: number;

  constructor(rule: RuleData) {
    this.data = rule;
    this.#startsWord = rule.source.startsWith("\\b");
    this.#first = firstOf(rule.source);
    this.#digits = Number(/^(?:\\b)?\(\\d\{(\d+)/.exec(rule.source)?.[1] ?? 0);
    this.#allow = (rule.allow ?? []).map((one) => new Allow(one));
  }

  get isPem(): boolean {
    return this.data.id === "private-key";
  }

  /**
   * A value that is longer than what is looked at first is looked at whole.
   * @param at where the keyword begins @param least where a match begins at the earliest
   * @param from where its value begins at the earliest
   */
  match(text: string, at: number, least: number, from: number): Match | undefined {
    const [nearest, farthest] = this.data.before ?? [0, 0];
    for (let start = Math.max(least, at - farthest); start <= at - nearest; start++) {
      const code = text.charCodeAt(start);
      if (this.#first >= 0 && (code | 0x20) !== this.#first) continue;
      if (this.#startsWord && (!isWord(code) || (start > 0 && isWord(text.charCodeAt(start - 1))))) continue;
      if (!hasDigits(text, start, this.#digits)) continue;
      const end = start + (this.isPem ? LONGEST_PEM : LONGEST);
      const found = this.#matchAt(text, start, end);
      if (found && found.value[0] >= from)
        return found.whole[1] === end ? this.#matchAt(text, start, start + LONGEST_PEM) : found;
    }
    return undefined;
  }

  /** Whether a match is no example, and random enough. @param least as for {@link match} @param clear of this text */
  isSecret(text: string, { secret, whole }: Match, least: number, clear: Clear): boolean {
    const value = text.slice(...secret);
    if (this.data.entropy !== undefined && entropyOf(value) <= this.data.entropy) return false;
    const start = this.data.isNamed ? nameStart(text, whole[0], least) : whole[0];
    if (everywhere().has(value, text, start, whole[1], clear)) return false;
    for (const allow of this.#allow) if (allow.has(value, text, start, whole[1], clear)) return false;
    return true;
  }

  #matchAt(text: string, start: number, to: number): Match | undefined {
    const expression = (this.#expression ??= new RegExp(this.data.source, `${this.data.flags ?? ""}dy`));
    // The character in front of a match can decide.
    const cut = Math.max(0, start - 1);
    expression.lastIndex = start - cut;
    const found = expression.exec(text.slice(cut, to));
    if (!found) return undefined;
    const whole = moved(found.indices![0]!, cut);
    const secret = moved(this.#secretOf(found), cut);
    return { whole, secret, value: this.data.isWhole ? whole : secret };
  }

  #secretOf(found: RegExpExecArray): Range {
    const indices = found.indices!;
    const group =
      this.data.group ?? found.findIndex((text, at) => at > 0 && text !== undefined && text !== "");
    return indices[Math.max(0, group)]!;
  }
}

function hasDigits(text: string, from: number, count: number): boolean {
  for (let at = from; at < from + count; at++) if (!isDigit(text.charCodeAt(at))) return false;
  return true;
}

const moved = ([start, end]: Range, by: number): Range => [start + by, end + by];

/** The letter with which an expression begins, whatever its case; -1: it may begin with others. */
function firstOf(source: string): number {
  const letter = /^(?:\\b)?\(?([a-z])(?![?*{])/i.exec(source)?.[1];
  return letter === undefined || hasChoice(source) ? -1 : letter.toLowerCase().charCodeAt(0);
}

/** Whether an expression has alternatives at its top, or in the group with which it begins. */
function hasChoice(source: string): boolean {
  let depth = 0;
  let isFirst = /^(?:\\b)?\(/.test(source);
  for (const [token] of source.matchAll(/\\.|\[(?:\\.|[^\]\\])*\]|[^]/g)) {
    if (token === "(") depth++;
    if (token === ")" && --depth === 0) isFirst = false;
    if (token === "|" && depth === (isFirst ? 1 : 0)) return true;
  }
  return false;
}

/** What is no secret though a rule finds it. */
class Allow {
  readonly #target: AllowData["target"];
  readonly #expressions: readonly Allowed[];
  readonly #words: Automaton | undefined;

  constructor({ target, expressions, words }: AllowData) {
    this.#target = target;
    this.#expressions = expressions.map(([source, flags]) => new Allowed(source, flags));
    this.#words = words.length > 0 ? new Automaton(words) : undefined;
  }

  has(secret: string, text: string, start: number, end: number, clear: Clear): boolean {
    if (this.#words?.has(secret)) return true;
    if (this.#target === "line") return this.#hasLine(text, start, end, clear);
    return this.#hasAny(
      this.#target === undefined ? secret : text.slice(start, end).replace(/^\n+|\n+$/g, ""),
    );
  }

  #hasAny(target: string): boolean {
    for (const expression of this.#expressions) if (expression.has(target)) return true;
    return false;
  }

  /** Of a line without an end, what is near. */
  #hasLine(text: string, start: number, end: number, clear: Clear): boolean {
    const from = Math.max(0, start - LONGEST);
    const known = clear.get(this);
    if (known && known[0] <= from && end + LONGEST <= known[1]) return false;
    // What has no match has none in any part of it: findings on one long line are near each other.
    const to = end + NEAR;
    if (!this.#hasAny(text.slice(from, to))) {
      clear.set(this, [from, to]);
      return false;
    }
    const before = text.slice(from, start);
    const behind = text.slice(end, end + LONGEST);
    return this.#hasAny(
      `${before.slice(before.lastIndexOf("\n") + 1)}${text.slice(start, end)}${behind.split("\n", 1)[0]!}`,
    );
  }
}

/** What is looked at behind a finding for expressions of lines. */
const NEAR = 4 * LONGEST;

/** Parts of one text in which expressions of lines match nowhere. */
export type Clear = Map<object, Range>;

/** One expression. */
class Allowed {
  readonly #expression: RegExp;
  /** The character with which the text begins; -1: it may be any. */
  readonly #first: number;

  constructor(source: string, flags: string | undefined) {
    this.#expression = new RegExp(source, flags);
    const first = hasChoice(source) ? undefined : /^\^(?:\\([${])|([%@/]))/.exec(source);
    this.#first = first ? (first[1] ?? first[2])!.charCodeAt(0) : -1;
  }

  has(text: string): boolean {
    if (this.#first >= 0 && text.charCodeAt(0) !== this.#first) return false;
    return this.#expression.test(text);
  }
}

let allowedEverywhere: Allow | undefined;
const everywhere = () => (allowedEverywhere ??= new Allow(data.allow as unknown as AllowData));

/** All rules, and for each keyword those that have it. */
export class RuleBook {
  readonly keywords: Automaton;
  readonly #by: readonly (readonly Rule[])[];

  constructor() {
    const by = new Map<string, Rule[]>();
    for (const given of [OWN, ...(data.rules as unknown as readonly RuleData[])]) {
      const rule = new Rule(given);
      for (const keyword of given.keywords) by.set(keyword, [...(by.get(keyword) ?? []), rule]);
    }
    this.keywords = new Automaton([...by.keys(), "curl"]);
    this.#by = [...by.values()];
  }

  /** @param keyword its number; that of a command has no rules */
  rulesOf(keyword: number): readonly Rule[] {
    return this.#by[keyword] ?? [];
  }
}

const CODES = 128;
const counted = new Uint32Array(CODES);
const order = new Uint8Array(CODES);

/** Shannon's entropy of a text: bits a character. */
export function entropyOf(text: string): number {
  // Sums of fractions depend on their order: that in which the characters come first.
  let distinct = 0;
  counted.fill(0);
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= CODES) return entropyOfAny(text);
    if (counted[code]!++ === 0) order[distinct++] = code;
  }
  let entropy = 0;
  for (let at = 0; at < distinct; at++) entropy -= share(counted[order[at]!]! / text.length);
  return entropy;
}

const share = (part: number) => part * Math.log2(part);

function entropyOfAny(text: string): number {
  const counts = new Map<string, number>();
  let length = 0;
  for (const char of text) {
    counts.set(char, (counts.get(char) ?? 0) + 1);
    length++;
  }
  let entropy = 0;
  for (const count of counts.values()) entropy -= share(count / length);
  return entropy;
}
