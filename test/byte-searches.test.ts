/** Which files search the bytes of requests and answers: each has a reason in the table of src/gateway/README.md. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { readDocument, ROOT } from "./helpers/documents.ts";

/** Where bodies of requests and answers pass. */
const FOLDERS = [
  "src/{core,embeddings,formats,gateway,http,server,stream}/**/*.ts",
  "src/tapes/**/*.ts",
  "src/features/tape/**/*.ts",
  "plugins/**/*.ts",
];

/** Searches in bytes, and in texts that bytes were decoded to without parsing them. */
const SEARCHES: readonly RegExp[] = [
  /\b\w*(?:[bB]ytes|[bB]uffer|[cC]hunk|[lL]atin)\b(?:\.subarray\([^)]*\))?\.(?:indexOf|lastIndexOf|includes|search|startsWith|match)\(/,
  /Buffer\.from\([^\n]*\)\.(?:indexOf|lastIndexOf|includes)\(/,
  /\.(?:test|exec)\((?:latin|textOf|\w+\.toString)\b/,
  /\b(?:mayHold|stringBytes)\(/,
];
/** The same in files whose `text` is the text of a body. */
const TEXT_SEARCH = /\btext\.(?:indexOf|lastIndexOf)\(/;
const UNPARSED = /^src\/(?:embeddings|http|stream)\//;

function searching(): string[] {
  const found: string[] = [];
  for (const file of FOLDERS.flatMap((folder) => [...new Glob(folder).scanSync(ROOT)])) {
    const text = readFileSync(join(ROOT, file), "utf8");
    const isFound =
      SEARCHES.some((search) => search.test(text)) || (UNPARSED.test(file) && TEXT_SEARCH.test(text));
    if (isFound) found.push(file);
  }
  return found.sort();
}

test("each file that searches bytes says why it may, and no other file does", () => {
  const [, table = ""] = readDocument("src/gateway/README.md").split("## Searches in bytes");
  const [section = ""] = table.split("\n## ");
  const listed = [...section.matchAll(/^\| `(src\/[^`]+)` +\| [^|]+ \| ([^|]+) \|$/gm)];
  expect(listed.map(([, file]) => file!).sort()).toEqual(searching());
  for (const [row, , reason] of listed) expect(reason!.trim().length, row).toBeGreaterThanOrEqual(8);
});

test("a new search in bytes is found", () => {
  for (const line of [
    "const at = bytes.indexOf(mark);",
    'if (tools.subarray(1).length && buffer.includes("web_search"))',
    "Buffer.from(bytes.buffer, 0, 3).includes(text)",
    "if (marks.test(latin(bytes)))",
  ])
    expect([line, SEARCHES.some((search) => search.test(line))]).toEqual([line, true]);
});
