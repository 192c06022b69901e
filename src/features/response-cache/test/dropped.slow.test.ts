/**
 * The cache as a plugin file that an operator drops into the folder: it passes the tests of the built-in one, in this build and in
 * a binary that was built without the feature.
 */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../../../../test/helpers/documents.ts";

setDefaultTimeout(300_000);

const folder = mkdtempSync(join(tmpdir(), "weir-dropped-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function run(words: readonly string[], env: Record<string, string> = {}) {
  const child = Bun.spawn([process.execPath, ...words], {
    ...{ cwd: ROOT, stdin: "ignore", stdout: "pipe", stderr: "pipe" },
    env: { ...process.env, ...env },
  });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, text: out + err };
}

async function passes(env: Record<string, string>): Promise<void> {
  const file = join(import.meta.dir, "wire.test.ts");
  const { code, text } = await run(["test", "--timeout", "60000", file], { DROPPED_CACHE: "1", ...env });
  if (code !== 0) throw new Error(text);
  expect(Number(/^ *(\d+) pass$/m.exec(text)?.[1])).toBeGreaterThan(20);
}

test("a dropped file passes the tests of the built-in cache", () => passes({}));

test("it passes them in a binary that was built without the cache", async () => {
  const binary = join(folder, "weir");
  const built = await run(["src/build/main.ts", "--without", "response-cache", "--out", binary]);
  if (built.code !== 0) throw new Error(built.text);
  const schema = Bun.spawnSync([binary, "config", "schema"], { cwd: folder }).stdout.toString();
  expect(Object.keys((JSON.parse(schema) as { properties: object }).properties)).not.toContain("cache");
  await passes({ WEIR_TARGET: "binary", WEIR_BINARY: binary });
});
