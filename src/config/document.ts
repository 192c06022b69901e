/** The config file as a value, and the line each part of it stands on. */
import { readFileSync } from "node:fs";
import {
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type Document,
} from "yaml";
import { describeFileError } from "../core/system-error.ts";
import { ConfigError, type Path } from "./error.ts";

export interface ConfigDocument {
  /** How the file is named in messages. */
  name: string;
  value: Record<string, unknown>;
  /** `weir.yaml:7`: where the value at a path stands, or the nearest thing around it. */
  locate(path: Path): string;
}

/**
 * Reads a config file.
 * @param name how messages call it
 * @throws ConfigError when it cannot be read, is not UTF-8, not YAML, or not a map of options.
 */
export function readDocument(file: string, name: string): ConfigDocument {
  return parseConfig(readText(file, name), name);
}

function readText(file: string, name: string): string {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw new ConfigError(name, `the config file cannot be read (${describeFileError(error)})`);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new ConfigError(name, "the config file is not UTF-8 text");
  }
}

/** Parses the text of a config file (YAML 1.2, of which JSON is a part). An empty file sets nothing. */
export function parseConfig(text: string, name: string): ConfigDocument {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, stringKeys: true });
  const lineAt = (offset: number) => `${name}:${Math.max(1, lines.linePos(offset).line)}`;
  const fault = [...document.errors, ...document.warnings].sort((a, b) => a.pos[0] - b.pos[0])[0];
  if (fault !== undefined) throw syntaxError(document, fault, lineAt(fault.pos[0]));
  const value = toValue(document, name);
  if (value !== null && (typeof value !== "object" || Array.isArray(value))) {
    throw new ConfigError(lineAt(offsetOf(document, [])), "the config file must be a map of options");
  }
  return {
    name,
    value: { ...value },
    locate: (path) => lineAt(offsetOf(document, path)),
  };
}

function toValue(document: Document, name: string): object | null {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    throw new ConfigError(`${name}:1`, `not valid YAML (${firstClause(error)})`);
  }
}

function syntaxError(
  document: Document,
  fault: { code: string; pos: [number, number]; message: string },
  at: string,
) {
  if (fault.code === "DUPLICATE_KEY") {
    const path = pathOfKeyAt(document, fault.pos[0]);
    return new ConfigError(at, `${path.at(-1) ?? "an option"} is given twice`, path);
  }
  return new ConfigError(at, `not valid YAML (${firstClause(fault)})`);
}

/** What the parser says, without the piece of the file it may quote: that could be a secret. */
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

function pathOfKeyAt(document: Document, offset: number): Path {
  let found: Path = [];
  visit(document, {
    Pair(_, pair, ancestors) {
      if (!isScalar(pair.key) || pair.key.range?.[0] !== offset) return undefined;
      const chain: unknown[] = [...ancestors, pair];
      found = chain.flatMap((node, index): Path => {
        if (isPair(node)) return isScalar(node.key) ? [String(node.key.value)] : [];
        return isSeq(node) ? [node.items.indexOf(chain[index + 1])] : [];
      });
      return visit.BREAK;
    },
  });
  return found;
}

/** Where the value at a path begins; for a path that is not in the file, where the nearest part around it begins. */
function offsetOf(document: Document, path: Path): number {
  let node: unknown = document.contents;
  let offset = start(node) ?? 0;
  for (const step of path) {
    const key = isMap(node)
      ? node.items.find((pair) => isScalar(pair.key) && pair.key.value === String(step))
      : undefined;
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
