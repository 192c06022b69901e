/** Ranks tools for a query by BM25 over their names, titles, descriptions and the names of their arguments. */
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";

/** What is searched. */
export interface Searched {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: JsonObject;
}

/** Saturation and length of BM25, as Lucene has them. */
const K1 = 1.2;
const B = 0.75;
/** A word in the name says more than one in the description. */
const WEIGHTS = { name: 3, title: 2, description: 1, argument: 1 } as const;
/** Texts of servers may be long. Characters. */
const MOST_TEXT = 20_000;
const MOST_DEPTH = 8;
const MOST_ARGUMENTS = 500;

interface Indexed<Tool> {
  readonly tool: Tool;
  /** Weighted number of each word. */
  readonly words: ReadonlyMap<string, number>;
  readonly length: number;
}

export class ToolSearch<Tool extends Searched> {
  readonly #tools: readonly Indexed<Tool>[];
  /** Number of tools that have a word. */
  readonly #having = new Map<string, number>();
  readonly #average: number;

  constructor(tools: readonly Tool[]) {
    this.#tools = tools.map(indexed);
    for (const { words } of this.#tools)
      for (const word of words.keys()) this.#having.set(word, (this.#having.get(word) ?? 0) + 1);
    const sum = this.#tools.reduce((all, { length }) => all + length, 0);
    this.#average = Math.max(1, sum / Math.max(1, tools.length));
  }

  /** The best ones first; of equal ones in their order. Without a word to search for: the first ones. */
  find(query: string, most: number): Tool[] {
    const words = [...new Set(wordsOf(query))];
    if (words.length === 0) return this.#tools.slice(0, most).map(({ tool }) => tool);
    return this.#tools
      .map((one) => ({ tool: one.tool, score: this.#score(one, words) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, most)
      .map(({ tool }) => tool);
  }

  #score({ words, length }: Indexed<Tool>, wanted: readonly string[]): number {
    let score = 0;
    for (const word of wanted) {
      const count = words.get(word);
      if (count === undefined) continue;
      const having = this.#having.get(word)!;
      const rarity = Math.log(1 + (this.#tools.length - having + 0.5) / (having + 0.5));
      score += (rarity * count * (K1 + 1)) / (count + K1 * (1 - B + (B * length) / this.#average));
    }
    return score;
  }
}

/** What was read of a definition, by its schema: lists are made anew for each caller, of the same definitions. */
const known = new WeakMap<JsonObject, Pick<Indexed<Searched>, "tool" | "words" | "length">>();

function indexed<Tool extends Searched>(tool: Tool): Indexed<Tool> {
  const { name, inputSchema } = tool;
  const before = isObject(inputSchema) ? known.get(inputSchema) : undefined;
  if (before?.tool.name === name) return { ...before, tool };
  const made = read(tool);
  if (isObject(inputSchema)) known.set(inputSchema, made);
  return made;
}

function read<Tool extends Searched>(tool: Tool): Indexed<Tool> {
  const words = new Map<string, number>();
  let length = 0;
  const add = (text: string, weight: number) => {
    for (const word of wordsOf(text)) {
      words.set(word, (words.get(word) ?? 0) + weight);
      length += weight;
    }
  };
  add(tool.name, WEIGHTS.name);
  add(tool.title ?? "", WEIGHTS.title);
  add(tool.description ?? "", WEIGHTS.description);
  for (const name of argumentNames(tool.inputSchema)) add(name, WEIGHTS.argument);
  return { tool, words, length };
}

/** Names of properties at any depth. */
function argumentNames(schema: Json | undefined): string[] {
  const names: string[] = [];
  const collect = (value: Json | undefined, depth: number): void => {
    if (depth > MOST_DEPTH || names.length >= MOST_ARGUMENTS) return;
    if (Array.isArray(value)) for (const one of value) collect(one, depth + 1);
    if (!isObject(value)) return;
    const { properties } = value;
    if (isObject(properties)) names.push(...Object.keys(properties));
    for (const one of Object.values(value)) collect(one, depth + 1);
  };
  collect(schema, 0);
  return names.slice(0, MOST_ARGUMENTS);
}

/** `searchCode`, `search_code` and `Search codes` have the words `search` and `code`. */
export function wordsOf(text: string): string[] {
  const parted = text
    .slice(0, MOST_TEXT)
    .normalize("NFKC")
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .toLowerCase();
  return (parted.match(/[\p{L}\p{N}]+/gu) ?? []).map(stemOf);
}

/** Takes away the commonest English endings: `files`, `queries`, `searches`. */
function stemOf(word: string): string {
  if (word.length > 4 && word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  if (word.length > 4 && /(ch|sh|ss|x|z)es$/.test(word)) return word.slice(0, -2);
  return word.length > 3 && word.endsWith("s") && !/(ss|us|is)$/.test(word) ? word.slice(0, -1) : word;
}
