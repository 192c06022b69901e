/** The rules for secrets, ready to run: expressions are made when their keyword is met first. */
import { Automaton } from "../automaton.ts";
import { isWord } from "../classes.ts";
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

export class Rule {
  readonly data: RuleData;
  readonly #allow: readonly Allow[];
  #expression: RegExp | undefined;
  /** A match begins where a word begins. */
  readonly #startsWord: boolean;

  constructor(rule: RuleData) {
    this.data = rule;
    this.#startsWord = rule.source.startsWith("\\b");
    this.#allow = (rule.allow ?? []).map((one) => new Allow(one));
  }

  get isPem(): boolean {
    return this.data.id === "private-key";
  }

  /**
   * A value that is longer than what is looked at first is looked at whole.
   * @param at where the keyword begins @param least where a match begins at the earliest
   */
  match(text: string, at: number, least: number): Match | undefined {
    const [nearest, farthest] = this.data.before ?? [0, 0];
    for (let start = Math.max(least, at - farthest); start <= at - nearest; start++) {
      if (this.#startsWord && (!isWord(text.charCodeAt(start)) || isWord(text.charCodeAt(start - 1))))
        continue;
      const end = start + (this.isPem ? LONGEST_PEM : LONGEST);
      const found = this.#matchAt(text, start, end);
      if (found) return found.whole[1] === end ? this.#matchAt(text, start, start + LONGEST_PEM) : found;
    }
    return undefined;
  }

  /** Whether a match is no example, and random enough. @param least as for {@link match} */
  isSecret(text: string, { secret, whole }: Match, least: number): boolean {
    const value = text.slice(...secret);
    if (this.data.entropy !== undefined && entropyOf(value) <= this.data.entropy) return false;
    // A name can go on in front of the keyword.
    let start = whole[0];
    const first = Math.max(least, start - LONGEST_NAME);
    if (this.data.isNamed) while (start > first && isNamePart(text.charCodeAt(start - 1))) start--;
    return ![everywhere(), ...this.#allow].some((allow) => allow.has(value, text, [start, whole[1]]));
  }

  #matchAt(text: string, start: number, to: number): Match | undefined {
    const expression = (this.#expression ??= new RegExp(this.data.source, `${this.data.flags ?? ""}dy`));
    // The character in front of a match can decide.
    const cut = Math.max(0, start - 1);
    expression.lastIndex = start - cut;
    const found = expression.exec(text.slice(cut, to));
    if (!found) return undefined;
    const inText = ([first, behind]: Range) => [first + cut, behind + cut] as const;
    const whole = inText(found.indices![0]!);
    const secret = inText(this.#secretOf(found));
    return { whole, secret, value: this.data.isWhole ? whole : secret };
  }

  #secretOf(found: RegExpExecArray): Range {
    const indices = found.indices!;
    const group =
      this.data.group ?? found.findIndex((text, at) => at > 0 && text !== undefined && text !== "");
    return indices[Math.max(0, group)]!;
  }
}

/** What is no secret though a rule finds it. */
class Allow {
  readonly #target: AllowData["target"];
  readonly #expressions: readonly RegExp[];
  readonly #words: Automaton;

  constructor({ target, expressions, words }: AllowData) {
    this.#target = target;
    this.#expressions = expressions.map(([source, flags]) => new RegExp(source, flags));
    this.#words = new Automaton(words);
  }

  has(secret: string, text: string, match: Range): boolean {
    if (this.#words.has(secret)) return true;
    const target = this.#targetOf(secret, text, match);
    return this.#expressions.some((expression) => expression.test(target));
  }

  #targetOf(secret: string, text: string, [start, end]: Range): string {
    if (this.#target === undefined) return secret;
    if (this.#target === "match") return text.slice(start, end).replace(/^\n+|\n+$/g, "");
    // Of a line without an end, what is near.
    const before = text.slice(Math.max(0, start - LONGEST), start);
    const behind = text.slice(end, end + LONGEST);
    return `${before.slice(before.lastIndexOf("\n") + 1)}${text.slice(start, end)}${behind.split("\n", 1)[0]!}`;
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

/** Shannon's entropy of a text: bits a character. */
export function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  let length = 0;
  for (const char of text) {
    counts.set(char, (counts.get(char) ?? 0) + 1);
    length++;
  }
  let entropy = 0;
  for (const count of counts.values()) entropy -= (count / length) * Math.log2(count / length);
  return entropy;
}
