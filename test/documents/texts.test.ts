/** `llms.txt` and `llms-full.txt`, as they are made from the documents. */
import { expect, test } from "bun:test";
import { fullText } from "../../src/documents/full-text.ts";
import { indexText } from "../../src/documents/index-text.ts";
import type { Document } from "../../src/documents/library.ts";
import { readLibrary } from "../../src/documents/library.ts";
import { LINK, proseOf } from "../../src/documents/markdown.ts";
import { blocksOf, DOCUMENTS, ROOT } from "../helpers/documents.ts";

const library = readLibrary(ROOT);
const index = indexText(library);
const full = fullText(library);

test("every document of the repository is in both texts, README.md first", () => {
  expect(library.map(({ path }) => path).sort()).toEqual([...DOCUMENTS]);
  expect(library[0]!.path).toBe("README.md");
  for (const path of DOCUMENTS) {
    expect(index).toContain(`(/llms-full.txt#${path})`);
    expect(full).toContain(`<a id="${path}"></a>`);
  }
});

test("llms.txt has a title, a summary, and sections that hold nothing but links", () => {
  const [title, summary, ...sections] = index.trim().split(/\n\n(?!- )/);
  expect(title).toBe("# weir");
  expect(summary).toStartWith("> weir is a gateway for language-model generation.");
  expect(sections.map((section) => section.split("\n")[0])).toEqual([
    "## API",
    "## Use weir",
    "## How weir works",
    "## Optional",
  ]);
  const lines = sections.flatMap((section) => section.split("\n").slice(2));
  expect(lines.length).toBe(DOCUMENTS.length + 2);
  for (const line of lines) expect(line).toMatch(/^- \[[^\]]+\]\(\/[^)\s]+\)(: .+)?$/);
});

test("every link leads to a place in the full text, to a path of the gateway, or to another host", () => {
  const places = new Set([...full.matchAll(/<a id="([^"]+)"><\/a>/g)].map(([, place]) => place));
  const broken: string[] = [];
  for (const [, , target] of [...index.matchAll(LINK), ...proseOf(full).matchAll(LINK)]) {
    const [path = "", place] = target!.split("#");
    if (/^https?:/.test(target!)) continue;
    if (!["", "/llms-full.txt", "/openapi.json"].includes(path)) broken.push(target!);
    if (place !== undefined && !places.has(place)) broken.push(target!);
  }
  expect(broken).toEqual([]);
  expect(places.size).toBe([...full.matchAll(/<a id="/g)].length);
});

test("the full text has every example unchanged, and fits into a context window", () => {
  for (const path of DOCUMENTS) for (const { code } of blocksOf(path)) expect(full).toContain(code);
  // About 170,000 tokens, which leaves room in a window of 200,000.
  expect(Buffer.byteLength(full)).toBeLessThan(680_000);
});

test("links and tables of a document are written for the one text", () => {
  const documents: Document[] = [
    { path: "README.md", text: "# a\n\nSee [b](x/b.md#two-words), [it](#a-part).\n\n## A part\n" },
    {
      path: "x/b.md",
      text: "# b\n\n[c.ts](../src/c.ts) and [the code](../src/c.ts)\n\n## Two words\n\n| one   | two |\n| ----- | --- |\n\n```md\n[kept](as.md)  | x   |\n```\n",
    },
  ];
  expect(fullText(documents)).toBe(
    [
      '<a id="README.md"></a>\n\n# a\n\nSee [b](#x/b.md:two-words), [it](#README.md:a-part).\n\n<a id="README.md:a-part"></a>\n\n## A part\n',
      '<a id="x/b.md"></a>\n\n# b\n\n`src/c.ts` and the code (`src/c.ts`)\n\n<a id="x/b.md:two-words"></a>\n\n## Two words\n\n| one | two |\n| --- | --- |\n\n```md\n[kept](as.md)  | x   |\n```\n',
    ].join("\n"),
  );
});
