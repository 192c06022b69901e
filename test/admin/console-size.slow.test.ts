/** How large the console is. Its scripts are minified as for the binary, which takes some seconds. */
import { expect, test } from "bun:test";
import { extname, join } from "node:path";
import { packed } from "../../src/admin/console/files.ts";
import { buildConsole } from "../../src/build/console.ts";

const { files } = await buildConsole(join(import.meta.dir, "../../src/console/index.html"));
const sizeOf = ({ text }: { text: string }) => packed(text).length;

/** What a browser loads before anything is opened: the document, what it names, and what those scripts import. */
function loadedFirst(): typeof files {
  const found = new Set(files.filter(({ name }) => !name.endsWith(".js")));
  // Elements of a set that are added meanwhile are visited, too.
  for (const { name, text } of found) {
    const named = name.endsWith(".html")
      ? [...text.matchAll(/(?:src|href)="[^"]*?([^/"]+)"/g)]
      : [...text.matchAll(/(?:from|import)"\.\/([^"]+)"/g)];
    for (const [, other] of named) for (const file of files) if (file.name === other) found.add(file);
  }
  return [...found];
}

test("what the binary's console loads first is documents, scripts, styles and an icon", () => {
  expect([...new Set(loadedFirst().map(({ name }) => extname(name)))].sort()).toEqual([
    ...[".css", ".html", ".js", ".svg"],
  ]);
});

test("all files of the binary's console are at most 110 KB gzipped", () => {
  expect(files.reduce((sum, one) => sum + sizeOf(one), 0)).toBeLessThan(110_000);
});

test("what pages load when they are opened is one file", () => {
  const first = new Set(loadedFirst());
  const later = files.filter((file) => !first.has(file));
  expect(later.map(({ name }) => name.replace(/-.*/, ""))).toEqual(["later"]);
  for (const page of ["ToolsPage", "SessionsPage", "PlaygroundPage"]) expect(later[0]!.text).toContain(page);
});
