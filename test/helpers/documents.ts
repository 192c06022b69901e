/** The Markdown documents of the repository, as tests read them and as generated tables are written into them. */
import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Glob } from "bun";
import { anchorOf, HEADING, proseOf as withoutFences } from "../../src/documents/markdown.ts";

export const ROOT = resolve(import.meta.dir, "../..");

/** Paths of all documents, relative to the root of the repository. */
export const DOCUMENTS: readonly string[] = [
  "*.md",
  ".github/**/*.md",
  "plugins/**/*.md",
  "src/**/*.md",
  "test/**/*.md",
]
  .flatMap((pattern) => [...new Glob(pattern).scanSync({ cwd: ROOT, dot: true })])
  .sort();

/** @param path relative to the root of the repository */
export function readDocument(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

/** A fenced block: the language behind its fence, and its lines. */
export interface Block {
  language: string;
  code: string;
}

/** The fenced blocks of a document, in order. */
export function blocksOf(path: string): Block[] {
  return [...readDocument(path).matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language, code]) => ({
    language: language!,
    code: code!,
  }));
}

/** The first block of a language that holds a text. @throws Error when the document has none */
export function blockOf(path: string, language: string, holding = ""): string {
  const found = blocksOf(path).find((block) => block.language === language && block.code.includes(holding));
  if (!found) throw new Error(`${path} has no ${language || "plain"} block with "${holding}".`);
  return found.code;
}

/** The document without its fenced blocks. */
export function proseOf(path: string): string {
  return withoutFences(readDocument(path));
}

/** Anchors of the headings of a document, as the hosts of repositories make them. */
export function anchorsOf(path: string): Set<string> {
  return new Set([...proseOf(path).matchAll(HEADING)].map(([, , heading]) => anchorOf(heading!)));
}

/**
 * A document with a new generated part, which stands between `<!-- name -->` and `<!-- /name -->`.
 * @throws Error when the document has no such marks
 */
export function withPart(path: string, name: string, made: string): string {
  const marks = new RegExp(`<!-- ${name} -->.*<!-- /${name} -->`, "s");
  const text = readDocument(path);
  if (!marks.test(text)) throw new Error(`${path} has no <!-- ${name} --> marks to write between.`);
  return text.replace(marks, () => `<!-- ${name} -->\n\n${made}\n\n<!-- /${name} -->`);
}

/** A Markdown table. The formatter aligns its columns. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** Compares a generated part of a document with what the code makes; the formatter owns spaces and dashes of tables. */
export async function checkPart(path: string, name: string, made: string): Promise<void> {
  const wanted = withPart(path, name, made);
  const squeezed = (markdown: string) => markdown.replace(/[ -]{2,}/g, (run) => run[0]!);
  if (process.env["UPDATE"] === "1") await Bun.write(join(ROOT, path), wanted);
  else expect(squeezed(readDocument(path))).toBe(squeezed(wanted));
}
