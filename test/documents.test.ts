/** What holds for every document of the repository: where it is, where its links lead, and which commands it names. */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Glob } from "bun";
import { COMMANDS } from "./helpers/commands.ts";
import { parse } from "../src/cli/parse.ts";
import { loadConfig } from "../src/config/load.ts";
import { newReferences, OPTIONS, SECTIONS } from "./helpers/features.ts";
import { anchorsOf, blocksOf, DOCUMENTS, proseOf, readDocument, ROOT } from "./helpers/documents.ts";

const README_BYTES = 9 * 1024;

test("README.md is a first read of at most 9 KB", () => {
  expect(Buffer.byteLength(readDocument("README.md"))).toBeLessThanOrEqual(README_BYTES);
});

test("README.md is the only document at the top level, and there is no docs folder", () => {
  expect(DOCUMENTS.filter((path) => !path.includes("/"))).toEqual(["README.md"]);
  expect(existsSync(join(ROOT, "docs"))).toBe(false);
});

test("every link between documents leads to a file and a heading that exist", () => {
  const broken: string[] = [];
  let links = 0;
  for (const path of DOCUMENTS)
    for (const [, target] of proseOf(path).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target!)) continue;
      links++;
      const [file, anchor] = target!.split("#");
      const aim = file === "" ? path : join(dirname(path), file!);
      const isWhole = existsSync(join(ROOT, aim)) && (!anchor || anchorsOf(aim).has(anchor));
      if (!isWhole) broken.push(`${path} links to ${target}`);
    }
  expect(links).toBeGreaterThan(20);
  expect(broken).toEqual([]);
});

test("every document can be reached from README.md by links", () => {
  const reached = new Set(["README.md"]);
  for (const path of reached)
    for (const [, target] of proseOf(path).matchAll(/\]\(([^)\s#]+\.md)[^)]*\)/g))
      if (!/^https?:/.test(target!)) reached.add(join(dirname(path), target!));
  expect(DOCUMENTS.filter((path) => !reached.has(path))).toEqual([]);
});

test("every file of the repository that a document names in code style exists", () => {
  const missing: string[] = [];
  for (const path of DOCUMENTS)
    for (const [, file] of proseOf(path).matchAll(/`((?:src|plugins|test)\/[\w./-]+\.\w+)`/g))
      if (!existsSync(join(ROOT, file!))) missing.push(`${path} names ${file}`);
  expect(missing).toEqual([]);
});

test("every `bun run` command of a document is a script of package.json", async () => {
  const { scripts } = (await Bun.file(join(ROOT, "package.json")).json()) as { scripts: object };
  const unknown: string[] = [];
  const named = new Set<string>();
  for (const path of DOCUMENTS)
    for (const [, name] of readDocument(path).matchAll(/\bbun(?:@[\d.]+)? run ([a-z]+)/g)) {
      named.add(name!);
      if (!Object.hasOwn(scripts, name!)) unknown.push(`${path} runs ${name}`);
    }
  expect([...named]).toEqual(expect.arrayContaining(["start", "test", "check", "build"]));
  expect(unknown).toEqual([]);
});

test("every command of README.md works with npm alone", async () => {
  const { packageManager } = (await Bun.file(join(ROOT, "package.json")).json()) as {
    packageManager: string;
  };
  const commands = blocksOf("README.md").filter(({ language }) => language === "sh");
  const withBun = commands.flatMap(({ code }) => code.match(/.*\bbun\b.*/g) ?? []);
  expect(withBun.length).toBeGreaterThan(3);
  for (const line of withBun) expect(line).toContain(`npx -y ${packageManager} `);
});

test("every config example is YAML with options that weir knows", () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-examples-"));
  // Files that an example includes.
  mkdirSync(join(folder, "conf.d"));
  for (const name of ["providers.yaml", "conf.d/team.yaml"]) writeFileSync(join(folder, name), "");
  let examples = 0;
  try {
    for (const path of DOCUMENTS)
      for (const { language, code } of blocksOf(path)) {
        if (language !== "yaml") continue;
        examples++;
        writeFileSync(join(folder, "weir.yaml"), code);
        const names = [...code.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name!);
        const env = Object.fromEntries(names.map((name) => [name, `something-that-is-long-${name}`]));
        expect(
          () => loadConfig({ flags: {}, env, cwd: folder, sections: SECTIONS, references: newReferences() }),
          `${path}:\n${code}`,
        ).not.toThrow();
      }
  } finally {
    rmSync(folder, { recursive: true });
  }
  expect(examples).toBeGreaterThan(5);
});

/** `[file](path)` and, behind it in the same row of a table, the names it exports. */
const TOUR_ROW = /^\|[^|]*\| *\[[^\]]+\]\(([\w./-]+\.ts)\) *\|((?: *`\w+`)+) *\|$/gm;

test("every step of the tour names a file that exists and names that it exports", () => {
  const tour = proseOf("src/README.md");
  const wrong: string[] = [];
  const rows = [...tour.matchAll(TOUR_ROW)];
  for (const [, file, names] of rows) {
    const source = readDocument(join("src", file!));
    for (const [, name] of names!.matchAll(/`(\w+)`/g))
      if (!exportOf(name!).test(source)) wrong.push(`${file} does not export ${name}`);
  }
  // In the text the name comes first.
  const inText = [...tour.matchAll(/`(\w+)` in\s+\[[^\]]+\]\(([\w./-]+\.ts)\)/g)];
  for (const [, name, file] of inText)
    if (!exportOf(name!).test(readDocument(join("src", file!))))
      wrong.push(`${file} does not export ${name}`);
  expect(wrong).toEqual([]);
  expect([rows.length > 20, inText.length]).toEqual([true, 5]);
});

function exportOf(name: string): RegExp {
  const declared = `(?:async )?(?:function\\*?|class|interface|type|const) ${name}\\b`;
  return new RegExp(`^export (?:${declared}|(?:type )?\\{[^}]*\\b${name}\\b)`, "m");
}

const SOURCES = ["plugins/**/*.ts", "src/**/*.{ts,txt}", "test/**/*.ts"].flatMap((pattern) => [
  ...new Glob(pattern).scanSync(ROOT),
]);

test("every heading of a document that a comment refers to exists", () => {
  const missing: string[] = [];
  let references = 0;
  for (const source of SOURCES)
    for (const [, document, anchor] of readDocument(source).matchAll(/\b([\w./-]*README\.md)#([\w-]+)/g)) {
      references++;
      const isThere = DOCUMENTS.includes(document!) && anchorsOf(document!).has(anchor!);
      if (!isThere) missing.push(`${source} refers to ${document}#${anchor}`);
    }
  expect(references).toBeGreaterThan(5);
  expect(missing).toEqual([]);
});

/** Sections of notes that only their authors have, and numbers of lists that are not here. */
const NOTES =
  /\b(?:contract|design|runtime)(?:\.md)?`? (?:finding )?(?:[A-Z]\.)?\d|\b(?:contract|runtime|design)\.md\b|\b(?:contract|pitfall|finding)s? [A-Z]?[.-]?\d|\b[FG]-\d{1,3}\b|\bE\.\d/i;

test("no source file cites a document that is not in the repository", () => {
  const citing = SOURCES.filter((source) => source !== "test/documents.test.ts").flatMap((source) =>
    readDocument(source)
      .split("\n")
      .flatMap((line, index) => (NOTES.test(line) ? [`${source}:${index + 1}: ${line.trim()}`] : [])),
  );
  expect(citing).toEqual([]);
});

test("every weir command that a document shows is one of the command line", () => {
  const wrong: string[] = [];
  let shown = 0;
  for (const path of DOCUMENTS) {
    const spans = [...proseOf(path).matchAll(/`weir ([a-z][^`]*)`/g)].map(([, args]) => args!);
    for (const args of spans) {
      shown++;
      // What a shell reads, and brackets of a synopsis, are not for weir.
      const words = args
        .replace(/ [&>|(].*$/, "")
        .replace(/[[\]]/g, "")
        .split(/\s+/);
      try {
        parse(words, COMMANDS);
      } catch (cause) {
        wrong.push(`${path}: weir ${args}: ${String(cause)}`);
      }
    }
  }
  expect(shown).toBeGreaterThan(20);
  expect(wrong).toEqual([]);
});

test("every option and variable that a document names exists", () => {
  // Also the groups of options inside of a section.
  const options = new Set(
    OPTIONS.list.flatMap(({ path }) => path.map((_, at) => path.slice(0, at + 1).join("."))),
  );
  const sections = new Set(
    [...options].filter((name) => name.includes(".")).map((name) => name.split(".")[0]!),
  );
  const sources = SOURCES.filter((source) => !source.endsWith("documents.test.ts"))
    .map(readDocument)
    .join("\n");
  const unknown: string[] = [];
  for (const path of DOCUMENTS) {
    for (const [, option] of readDocument(path).matchAll(/`([a-z]+\.[a-zA-Z]+)[`:]/g))
      if (sections.has(option!.split(".")[0]!) && !options.has(option!)) unknown.push(`${path}: ${option}`);
    for (const [variable] of readDocument(path).matchAll(/\bWEIR_[A-Z_]+\b/g))
      if (!sources.includes(variable)) unknown.push(`${path}: ${variable}`);
  }
  expect(options.size).toBeGreaterThan(20);
  expect(unknown).toEqual([]);
});
