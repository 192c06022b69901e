/**
 * Reads long sections of plain lines (20,000 budgets with a line each) without the YAML library, which needs seconds for
 * them. It reads only lines whose meaning in YAML 1.2 is beyond doubt; a section with any other line is left to the library
 * as a whole, and so is every message about a mistake. `test/config/plain-sections.test.ts` compares both on any texts.
 */
import { type Document, isMap, isScalar } from "yaml";
import type { Sliced } from "../core/slices.ts";
import type { Path } from "./error.ts";

/** A section with fewer lines is left to the library. */
const SHORTEST = 200;
/** Lines or entries between two yields. */
const LINES = 100;

export interface PlainSection {
  name: string;
  /** Offset of the name in the text without the sections. */
  offset: number;
  value: object;
  /** The line of the value at a path inside the section, or of its nearest ancestor. Counted from 1. */
  lineOf(path: Path): number;
}

/** A text without its plain sections, of which only the names are left. */
export interface Divided {
  rest: string;
  /** The line of the whole text for each line of the rest, counted from 1. */
  numbers: readonly number[];
  sections: readonly PlainSection[];
}

/**
 * Takes the plain sections out of a text.
 * @param shortest number of lines of the shortest section that is taken out
 */
export function* takePlainSections(text: string, shortest = SHORTEST): Sliced<Divided> {
  const lines = text.split("\n");
  const sections: PlainSection[] = [];
  // A directive changes what the same text means.
  if (lines.length <= shortest || /^%/m.test(text)) return { rest: text, numbers: [], sections };
  const kept: string[] = [];
  const numbers: number[] = [];
  let offset = 0;
  for (let at = 0; at < lines.length; at++) {
    if (at % LINES === 0) yield;
    const line = lines[at]!;
    kept.push(line);
    numbers.push(at + 1);
    const name = /^([A-Za-z]+):$/.exec(line)?.[1];
    const read = name === undefined ? undefined : yield* readSection(lines, at + 1, shortest);
    if (name !== undefined && read) {
      sections.push({ name, offset, ...read });
      at = read.end - 1;
    }
    offset += line.length + 1;
  }
  return { rest: kept.join("\n"), numbers, sections };
}

/** Whether the text without the sections has each once, as an empty member of its map: then nothing around changes them. */
export function holdsSections(document: Document.Parsed, sections: readonly PlainSection[]): boolean {
  const { contents, errors, warnings } = document;
  if (errors.length > 0 || warnings.length > 0 || !isMap(contents) || contents.flow === true) return false;
  return sections.every(({ name, offset }) => {
    const [own, second] = contents.items.filter(({ key }) => isScalar(key) && key.value === name);
    if (!own || second || !isScalar(own.key) || own.key.range?.[0] !== offset) return false;
    return isScalar(own.value) && own.value.value === null && !own.value.source;
  });
}

/** `  name: value`, `  name:`, `  - value` and `  - name: value`. */
const ENTRY = /^( +)(?:(- )|([A-Za-z_/][\w/.@-]{0,199}):(?: |$))/;
/** An empty line, or a comment. */
const NOTHING = /^(?: *#[ -~]*)?$/;

interface Entry {
  /** Absent in a list. */
  name?: string;
  value: unknown;
  /** Index of the line behind it. */
  next: number;
}

/** @param begin index of the first line @returns undefined if it is short, or not plain */
function* readSection(
  lines: readonly string[],
  begin: number,
  shortest: number,
): Sliced<(Pick<PlainSection, "value" | "lineOf"> & { end: number }) | undefined> {
  const first = skip(lines, begin);
  const indent = indentOf(lines[first]);
  if (indent === 0) return undefined;
  const entries: [name: string, value: unknown][] = [];
  /** Index of the line of each entry, by its name or its index. */
  const places = new Map<string, number>();
  const isList = lines[first]!.startsWith("- ", indent);
  let end = first;
  while (indentOf(lines[end]) > 0) {
    if (entries.length % LINES === 0) yield;
    const entry = readEntry(lines, end, indent);
    const name = isList ? String(entries.length) : entry?.name;
    if (!entry || name === undefined || (entry.name === undefined) !== isList || places.has(name))
      return undefined;
    places.set(name, end);
    entries.push([name, entry.value]);
    end = skip(lines, entry.next);
  }
  if (end - begin < shortest) return undefined;
  const value = isList ? entries.map(([, each]) => each) : Object.fromEntries(entries);
  const lineOf = ([step, ...rest]: Path) => {
    const place = places.get(String(step));
    return place === undefined ? begin : placeBelow(lines, place, rest) + 1;
  };
  return { value, lineOf, end };
}

/** @param line the line, with spaces in place of a dash in front */
function readEntry(
  lines: readonly string[],
  at: number,
  indent: number,
  line = lines[at]!,
): Entry | undefined {
  const match = ENTRY.exec(line);
  if (!match || match[1]!.length !== indent) return undefined;
  const [start, , , name] = match;
  if (name !== undefined && isWord(name)) return undefined;
  const named = name === undefined ? {} : { name };
  const value = start.length < line.length ? new Line(line, start.length).read() : undefined;
  if (value !== undefined) return { ...named, value, next: at + 1 };
  // The members of an entry have a line each.
  const first = withoutDash(line);
  if (first === undefined && start.length < line.length) return undefined;
  const members = readMembers(lines, first === undefined ? skip(lines, at + 1) : at, indent, first);
  return members && { ...named, ...members };
}

/** @param first the first line, if it is not as in the file */
function readMembers(
  lines: readonly string[],
  begin: number,
  outer: number,
  first = lines[begin],
): { value: object; next: number } | undefined {
  const indent = indentOf(first);
  const members = new Map<string, unknown>();
  let at = begin;
  for (let line = first; indentOf(line) > outer; line = lines[at]) {
    const entry = readEntry(lines, at, indent, line);
    if (entry?.name === undefined || members.has(entry.name)) return undefined;
    members.set(entry.name, entry.value);
    at = skip(lines, entry.next);
  }
  return members.size === 0 ? undefined : { value: Object.fromEntries(members), next: at };
}

/** A line with spaces in place of its dash; undefined for a line without one. */
function withoutDash(line: string): string | undefined {
  const [start = "", , dash] = ENTRY.exec(line) ?? [];
  return dash && " ".repeat(start.length) + line.slice(start.length);
}

/** Index of the line of a member below an entry, or of its nearest ancestor. */
function placeBelow(
  lines: readonly string[],
  place: number,
  [step, ...rest]: Path,
  line = lines[place]!,
): number {
  if (step === undefined) return place;
  const isSought = (text: string) => ENTRY.exec(text)?.[3] === String(step);
  const first = withoutDash(line);
  if (first !== undefined && isSought(first)) return placeBelow(lines, place, rest, first);
  const outer = indentOf(line);
  let indent = first === undefined ? undefined : indentOf(first);
  for (let at = skip(lines, place + 1); indentOf(lines[at]) > outer; at = skip(lines, at + 1)) {
    indent ??= indentOf(lines[at]);
    if (indentOf(lines[at]) === indent && isSought(lines[at]!)) return placeBelow(lines, at, rest);
  }
  return place;
}

/** Index of the next line with content. */
function skip(lines: readonly string[], at: number): number {
  while (at < lines.length && NOTHING.test(lines[at]!)) at++;
  return at;
}

/** Number of leading spaces; 0 behind the last line. */
function indentOf(line = ""): number {
  let spaces = 0;
  while (line.charCodeAt(spaces) === 32) spaces++;
  return spaces;
}

/** Words that YAML may read as something else than a text. */
function isWord(text: string): boolean {
  return /^(?:null|true|false)$/i.test(text);
}

const OPEN = /([[{]) */y;
const CLOSE = / *([\]}])/y;
const NEXT = /, */y;
const NAME = /([A-Za-z_/][\w/.@-]{0,199}): +/y;
/** A text in quotes, a number, or a word. A word that begins with a digit has a character that no number has. */
const SCALAR =
  /(?:"([^"\\\x00-\x1f\x7f-\uffff]*)"|'([^'\x00-\x1f\x7f-\uffff]*)'|(0|[1-9]\d{0,14}|(?:0|[1-9]\d{0,8})\.\d{1,6})|((?:[A-Za-z_/]|(?!0[xo])\d(?=[\d.eE-]*[A-DF-Za-df-z/@_]))[\w/.@-]*(?::[\w/.@-]+)*))(?=[,\]} ]|$)/y;

/** The value in a line: a text, a number, true or false, or a list or a map of such values in brackets. */
class Line {
  readonly #text: string;
  #at: number;

  constructor(text: string, at: number) {
    this.#text = text;
    this.#at = at;
  }

  /** @returns undefined for anything else */
  read(): unknown {
    const value = this.#value();
    return this.#at === this.#text.length ? value : undefined;
  }

  #value(): unknown {
    const bracket = this.#take(OPEN)?.[1];
    if (bracket !== undefined) return this.#entries(bracket === "[");
    const [, double, single, number, word] = this.#take(SCALAR) ?? [];
    if (number !== undefined) return Number(number);
    if (word === "true" || word === "false") return word === "true";
    if (word !== undefined && isWord(word)) return undefined;
    return double ?? single ?? word;
  }

  #entries(isList: boolean): unknown {
    const list: unknown[] = [];
    const map = new Map<string, unknown>();
    for (let count = 0; !this.#isClosed(isList); count++) {
      if (count > 0 && !this.#take(NEXT)) return undefined;
      const name = isList ? "" : this.#take(NAME)?.[1];
      if (name === undefined || map.has(name) || isWord(name)) return undefined;
      const value = this.#value();
      if (value === undefined) return undefined;
      if (isList) list.push(value);
      else map.set(name, value);
    }
    return isList ? list : Object.fromEntries(map);
  }

  #isClosed(isList: boolean): boolean {
    const from = this.#at;
    const bracket = this.#take(CLOSE)?.[1];
    if (bracket === (isList ? "]" : "}")) return true;
    this.#at = from;
    return false;
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match) this.#at = pattern.lastIndex;
    return match ?? undefined;
  }
}
