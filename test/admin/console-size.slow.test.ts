/** How large the console is. Its script is minified as for the binary, which takes some seconds. */
import { expect, test } from "bun:test";
import { extname, join } from "node:path";
import { buildConsole } from "../../src/build/console.ts";

test("document, script, styles and icon of the binary are at most 80 KB gzipped together", async () => {
  const { files } = await buildConsole(join(import.meta.dir, "../../src/console/index.html"));
  expect(files.map(({ name }) => extname(name)).sort()).toEqual([".css", ".html", ".js", ".svg"]);
  const bytes = files.map(({ text }) => Bun.gzipSync(text, { level: 9 }).length);
  expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThan(80_000);
});
