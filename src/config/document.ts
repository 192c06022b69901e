/** Parses the config file into a value, and finds the line of each part of it. */
import { readFileSync } from "node:fs";
import { type Document, isMap, isNode, isScalar, isSeq, LineCounter, type Pair, type YAMLMap } from "yaml";
import type { Sliced } from "../core/slices.ts";
import { describeFileError } from "../core/system-error.ts";
import { composeDocuments } from "./compose.ts";
import { ConfigError, type Path } from "./error.ts";

export interface ConfigDocument {
  /** Name of the file in messages. */
  name: string;
  value: Record<string, unknown>;
  /** `weir.yaml:7`: position of the value at a path, or of its nearest ancestor. */
  locate(path: Path): string;
}

/**
 * Reads a config file.
 * @param name name of the file in messages
 * @param fail makes the error of a file that cannot be read, of a clause without a subject
 * @throws ConfigError when it cannot be read, is not UTF-8, not YAML, or not a map of options.
 */
export function readDocument(
  file: string,
  name: string,
  fail?: (clause: string) => ConfigError,
): Sliced<ConfigDocument> {
  return parseConfig(readText(file, name, fail), name);
}

/** @throws ConfigError when the file cannot be read or is not UTF-8 */
export function readText(
  file: string,
  name: string,
  fail = (clause: string) => new ConfigError(name, `the config file ${clause}`),
): string {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw fail(`cannot be read (${describeFileError(error)})`);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new ConfigError(name, "the config file is not UTF-8 text");
  }
}

/** Parses the text of a config file. An empty file sets nothing. */
function* parseConfig(text: string, name: string): Sliced<ConfigDocument> {
  const { value, locate } = yield* parseText(text, name);
  if (value !== null && (typeof value !== "object" || Array.isArray(value))) {
    throw new ConfigError(locate([]), "the config file must be a map of options");
  }
  return { name, value: { ...value }, locate };
}

/**
 * Parses YAML 1.2, of which JSON is a part.
 * @param language of the file, for messages
 * @param onRepeated called with a fault for each key that a map has twice, of which the last one then counts
 * @throws ConfigError for a text that is not one valid document, and without `onRepeated` for a key that a map has twice
 */
export function* parseText(
  text: string,
  name: string,
  language = "YAML",
  onRepeated = (fault: ConfigError): void => {
    throw fault;
  },
): Sliced<{ value: object | null; locate: ConfigDocument["locate"] }> {
  const lines = new LineCounter();
  const lineAt = (offset: number) => `${name}:${Math.max(1, lines.linePos(offset).line)}`;
  const [document, second] = yield* composeDocuments(text, lines);
  if (document === undefined || second !== undefined)
    throw new ConfigError(
      lineAt(second?.range[0] ?? 0),
      "the config file must be a single YAML document, but a second one begins here",
    );
  const fault = [...document.errors, ...document.warnings].sort((a, b) => a.pos[0] - b.pos[0])[0];
  if (fault !== undefined)
    throw new ConfigError(
      lineAt(fault.pos[0]),
      `not valid ${language} (${firstClause(fault)}${hintFor(fault.message)})`,
    );
  const repeated = findRepeatedKeys(document.contents);
  yield;
  for (const { path, offset } of repeated)
    onRepeated(new ConfigError(lineAt(offset), `${path.at(-1)} is set twice`, path));
  const value = toValue(document, name);
  yield;
  const index: KeyIndex = new WeakMap();
  return { value, locate: (path) => lineAt(offsetOf(document, path, index)) };
}

function toValue(document: Document, name: string): object | null {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    throw new ConfigError(`${name}:1`, `not valid YAML (${firstClause(error)})`);
  }
}

/** Text that begins with an @, such as the name of a set of models, has to be in quotes. */
function hintFor(message: string): string {
  return message.includes("reserved character @") ? '; put it into quotes: "@cheap"' : "";
}

/** The parser's message without the excerpt of the file it may quote: the excerpt could contain a secret. */
function firstClause(fault: unknown): string {
  const message = fault instanceof Error || isMessage(fault) ? fault.message : String(fault);
  const clause = message.split(/: |\n/)[0] ?? "";
  return clause.replace(/[.\s]+$/, "").replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
}

function isMessage(fault: unknown): fault is { message: string } {
  return (
    typeof fault === "object" && fault !== null && "message" in fault && typeof fault.message === "string"
  );
}

interface Repeated {
  path: Path;
  offset: number;
}

/** The keys that occur twice in their map, in the order of the text. @param path of the node; it is changed and restored */
function findRepeatedKeys(node: unknown, path: (string | number)[] = [], found: Repeated[] = []): Repeated[] {
  const below = (step: string | number, inner: unknown) => {
    if (isScalar(inner)) return;
    path.push(step);
    findRepeatedKeys(inner, path, found);
    path.pop();
  };
  if (isSeq(node)) node.items.forEach((item, index) => below(index, item));
  if (!isMap(node)) return found;
  const seen = new Set<string>();
  for (const { key, value } of node.items) {
    const name = keyOf(key);
    if (name === undefined) findRepeatedKeys(value, path, found);
    else {
      if (seen.has(name)) found.push({ path: [...path, name], offset: start(key) ?? 0 });
      seen.add(name);
      below(name, value);
    }
  }
  return found;
}

function keyOf(key: unknown): string | undefined {
  return isScalar(key) ? String(key.value) : undefined;
}

/** The entries of a map by key, so that each map is scanned only once. */
type KeyIndex = WeakMap<YAMLMap, ReadonlyMap<string, Pair>>;

function entryOf(index: KeyIndex, map: YAMLMap, key: string): Pair | undefined {
  let entries = index.get(map);
  if (entries === undefined) {
    entries = new Map(map.items.map((pair) => [keyOf(pair.key) ?? "", pair]));
    index.set(map, entries);
  }
  return entries.get(key);
}

/** Offset of the value at a path, or of its nearest ancestor that is in the file. */
function offsetOf(document: Document, path: Path, index: KeyIndex): number {
  let node: unknown = document.contents;
  let offset = start(node) ?? 0;
  for (const step of path) {
    const key = isMap(node) ? entryOf(index, node, String(step)) : undefined;
    const next: unknown = key ? key.value : isSeq(node) ? node.items[Number(step)] : undefined;
    if (next === undefined) return offset;
    offset = start(key?.key) ?? start(next) ?? offset;
    node = next;
  }
  return offset;
}

function start(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}
