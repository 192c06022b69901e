/** Credentials: keys, tokens and passwords, by the rules of gitleaks. A keyword is searched first, all of them in one pass. */
import type { Detector, Finding } from "../detector.ts";
import { isWord, runAtEnd } from "../classes.ts";
import { type Clear, nameStart, RuleBook, type Rule } from "./rules.ts";

/** Between a name and its operator, and between that and the end of a value. */
const LONGEST_NAME = 48;
const LONGEST_VALUE = 190;
/** Characters of a command in front of an option. */
const LONGEST_COMMAND = 512;
const LONGEST = 512;
const LONGEST_PEM = 16_384;
const PEM_BEGINS = /-----BEGIN/gi;
const PEM_HEAD = /^-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----/i;
const LONGEST_HEAD = 140;
const PEM = /-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----[^]{64,}?KEY(?: BLOCK)?-----/iy;
/** A name behind which no operator stands yet, or a value that goes on. */
const NAME_OPEN = /^[ \t\w.'"\n\r\f-]*$/;
const VALUE_OPEN = /^[ \t\w.'"\n\r\f-]{0,48}[=>:|?,]{1,4}[`'"\s=]{0,5}[^`'"\s;\\]{0,190}\\?$/;
/** Rules without a name whose values can go on behind a space, with what may stand behind their keywords until a value ends. */
const OPEN: ReadonlyMap<string, RegExp> = new Map([
  ["atlassian-api-token", VALUE_OPEN],
  ["freemius-secret-key", /^["'][\t\n\f\r ]*(?:=|=>[\t\n\f\r ]*(?:["'][^\t\n\f\r ]*)?)?$/],
  ["jwt-base64", /^[\w/\\+\r\n-]*=*$/],
  ["nuget-config-password", /^(?:"?[a-z]{0,17}|"(?:cleartext)?password"[\t\n\f\r ]*[^\n]*[\t\n\f\r ]*)$/i],
]);
/** A line on which nothing is a secret, as an allowance of gitleaks says, or one that can become such a line. */
const CLEAR_LINE = /(?:--mount=type=secret,[^\n]*|import[ \t]+(?:\{[ \t\w,]*(?:\}[^\n]*)?)?)$/;

let known: RuleBook | undefined;
const book = () => (known ??= new RuleBook());

export const secrets: Detector = {
  name: "secrets",
  kind: "SECRET",
  find: (text, from = 0) => new Search(text, from).run(),
  reach(text) {
    const edge = Math.min(
      runAtEnd(text, LONGEST, isValue),
      text.length - book().keywords.begun(text, Math.max(0, text.length - LONGEST_NAME)),
      pemReach(text),
      lineReach(text),
    );
    return namedReach(text, edge);
  },
};

/** Each rule goes on behind the last value that it found. */
class Search {
  readonly #text: string;
  readonly #least: number;
  readonly #from = new Map<Rule, number>();
  readonly #clear: Clear = new Map();
  readonly #found: Finding[] = [];
  #command = Number.NEGATIVE_INFINITY;
  /** The run of characters of names that was looked at last, and that of values. */
  #nameFrom = 0;
  #nameEnd = -1;
  #valueFrom = 0;
  #valueEnd = -1;

  constructor(text: string, from: number) {
    this.#text = text;
    this.#least = from;
  }

  run(): Finding[] {
    const { keywords } = book();
    const generic: (readonly [Rule, number])[] = [];
    keywords.find(this.#text, 0, (keyword, end) => {
      const start = end - keywords.words[keyword]!.length;
      if (keyword === keywords.words.length - 1 && this.#startsWord(start)) this.#command = start;
      // A name and its value are decided together: the value of a name in front was judged with it.
      if (start < this.#least) return;
      for (const rule of book().rulesOf(keyword)) {
        if (start < this.#behind(rule) || !this.#isPossible(rule, start, end)) continue;
        if (rule.data.id === GENERIC) generic.push([rule, start]);
        else this.#try(rule, start);
      }
    });
    const isCovered = coverOf(this.#found);
    for (const [rule, start] of generic) if (start >= this.#behind(rule)) this.#try(rule, start, isCovered);
    return this.#found;
  }

  /** Where a match begins at the earliest. */
  #behind(rule: Rule): number {
    return this.#from.get(rule) ?? 0;
  }

  /** Only what is found hides what overlaps it, so that it does not matter where a text is cut. */
  #try(rule: Rule, start: number, isCovered?: (start: number, end: number) => boolean): void {
    const least = this.#behind(rule);
    const match = rule.match(this.#text, start, least, this.#least);
    if (!match || isCovered?.(...match.value)) return;
    if (!rule.isSecret(this.#text, match, least, this.#clear)) return;
    const [first, behind] = match.value;
    this.#from.set(rule, behind);
    const { id, command } = rule.data;
    const since = command === undefined ? match.whole[0] : this.#command;
    this.#found.push(
      match.whole[0] < first
        ? { start: first, end: behind, kind: "SECRET", rule: id, since }
        : { start: first, end: behind, kind: "SECRET", rule: id },
    );
  }

  /** What stands in front of a text that goes on is not known. */
  #startsWord(at: number): boolean {
    return at === 0 ? this.#least === 0 : !isWord(this.#text.charCodeAt(at - 1));
  }

  /** What costs little to rule out. */
  #isPossible({ data: { isNamed, command } }: Rule, start: number, end: number): boolean {
    if (command !== undefined)
      return start - this.#command < LONGEST_COMMAND && /[ \t\n\r]/.test(this.#text[start - 1] ?? "");
    if (!isNamed) return true;
    const operator = this.#operatorBehind(end);
    return operator >= 0 && this.#hasValue(operator);
  }

  /** @returns -1: there is none near */
  #operatorBehind(end: number): number {
    if (end < this.#nameFrom || end > this.#nameEnd) {
      this.#nameFrom = end;
      this.#nameEnd = end;
      while (isNamePart(this.#text.charCodeAt(this.#nameEnd))) this.#nameEnd++;
    }
    const at = this.#nameEnd;
    return at - end <= LONGEST_NAME && isOperator(this.#text.charCodeAt(at)) ? at : -1;
  }

  /** Whether behind an operator a value may stand: one that is not too long, and ends as one. */
  #hasValue(at: number): boolean {
    const text = this.#text;
    let from = at + 1;
    while (from - at < 9 && !isInner(text.charCodeAt(from))) from++;
    if (from < this.#valueFrom || from > this.#valueEnd) {
      this.#valueFrom = from;
      this.#valueEnd = from;
      while (isInner(text.charCodeAt(this.#valueEnd))) this.#valueEnd++;
    }
    const end = this.#valueEnd;
    return end - at <= LONGEST_VALUE && (end === text.length || isEnd(text.charCodeAt(end)));
  }
}

/** The rule for any name: one of a vendor says more about a secret. */
const GENERIC = "generic-api-key";

/** @returns whether one of the findings covers a range */
function coverOf(findings: readonly Finding[]): (start: number, end: number) => boolean {
  const found = [...findings].sort((one, other) => one.start - other.start);
  /** The farthest end of those up to each one. */
  let far = 0;
  const ends = found.map(({ end }) => (far = Math.max(far, end)));
  return (start, end) => endAt(found, ends, start) >= end;
}

/** @param found by their beginnings @returns the farthest end of those that begin up to a position; 0: there is none */
function endAt(found: readonly Finding[], ends: readonly number[], position: number): number {
  let low = 0;
  let high = found.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (found[middle]!.start <= position) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? 0 : ends[low - 1]!;
}

const isOperator = (code: number) =>
  code === 0x3d || code === 0x3e || code === 0x3a || code === 0x7c || code === 0x3f || code === 0x2c;
const isSpace = (code: number) => code === 0x20 || (code >= 9 && code < 14);
const isQuote = (code: number) => code === 0x22 || code === 0x27 || code === 0x60;
const isNamePart = (code: number) =>
  isWord(code) || isSpace(code) || code === 0x2e || code === 0x2d || code === 0x22 || code === 0x27;
/** `%+./:=~-`: what values consist of, beside letters and digits. */
const isInner = (code: number) =>
  isWord(code) ||
  code === 0x25 ||
  code === 0x2b ||
  (code >= 0x2d && code <= 0x2f) ||
  code === 0x3a ||
  code === 0x3d ||
  code === 0x7e;
/** What ends a value, beside the end of the text. */
const isEnd = (code: number) => isSpace(code) || isQuote(code) || code === 0x3b || code === 0x5c;
/** What a token at the end of a text can consist of. */
const isValue = (code: number) => !isSpace(code) && !isQuote(code) && code !== 0x3b && code !== 0x3c;

/** A key in PEM whose end has not come. */
function pemReach(text: string): number {
  PEM_BEGINS.lastIndex = Math.max(0, text.length - LONGEST_PEM);
  for (let begun = PEM_BEGINS.exec(text); begun; begun = PEM_BEGINS.exec(text)) {
    PEM.lastIndex = begun.index;
    if (!PEM.test(text)) {
      if (
        text.length - begun.index < LONGEST_HEAD ||
        PEM_HEAD.test(text.slice(begun.index, begun.index + LONGEST_HEAD))
      )
        return begun.index;
    } else PEM_BEGINS.lastIndex = PEM.lastIndex;
  }
  return text.length;
}

function lineReach(text: string): number {
  const from = Math.max(text.lastIndexOf("\n") + 1, text.length - LONGEST);
  const at = text.slice(from).search(CLEAR_LINE);
  return at < 0 ? text.length : from + at;
}

/** The first name near the end whose value has not ended. */
function namedReach(text: string, edge: number): number {
  const { keywords } = book();
  let first = edge;
  const from = Math.max(0, text.length - LONGEST);
  keywords.find(text, from, (keyword, end) => {
    const start = end - keywords.words[keyword]!.length;
    if (start >= first) return;
    const rules = book().rulesOf(keyword);
    if (rules.length === 0) first = isWord(text.charCodeAt(start - 1)) ? first : start;
    else if (rules.some(canGoOn) && goesOn(rules, text.slice(end))) first = nameStart(text, start);
  });
  return first;
}

const canGoOn = ({ data: { id, isNamed } }: Rule) => isNamed === true || OPEN.has(id);

function goesOn(rules: readonly Rule[], rest: string): boolean {
  return isOpen(rest) || rules.some(({ data: { id } }) => OPEN.get(id)?.test(rest));
}

function isOpen(rest: string): boolean {
  return (
    rest.length <= LONGEST_NAME + LONGEST_VALUE + 9 &&
    ((rest.length <= LONGEST_NAME && NAME_OPEN.test(rest)) || VALUE_OPEN.test(rest))
  );
}
