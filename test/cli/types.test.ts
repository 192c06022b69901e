/** What `weir plugin new` writes for the editor is the public face as it is now. */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { makeWeirTypes } from "../helpers/weir-types.ts";

const ROOT = resolve(import.meta.dir, "../..");

test("the types for the editor are those of the public face", async () => {
  const file = join(ROOT, "src/cli/weir.d.txt");
  const made = await makeWeirTypes();
  if (process.env["UPDATE"] === "1") await Bun.write(file, made);
  expect(await Bun.file(file).text()).toBe(made);
  const face = await import("../../src/plugin.ts");
  for (const name of Object.keys(face))
    expect(made).toMatch(new RegExp(`export (function|const|class) ${name}\\b`));
});

test("they need nothing beside them", async () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-types-"));
  const lib = ["esnext", "dom", "dom.iterable", "dom.asynciterable"];
  const compilerOptions = { strict: true, noEmit: true, target: "esnext", types: [], lib };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
  writeFileSync(join(folder, "weir.d.ts"), await makeWeirTypes());
  const { stdout, stderr } = Bun.spawnSync([process.execPath, "check"], { cwd: folder });
  rmSync(folder, { recursive: true, force: true });
  expect(stdout.toString() + stderr.toString()).toContain("No type errors");
});
