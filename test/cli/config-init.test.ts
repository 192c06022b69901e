/** `weir config init`: a file that loads, and that an editor understands. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../helpers/command.ts";

// Each command is a process of its own.
setDefaultTimeout(120_000);

test("config init writes a commented example that loads, and the schema it names", async () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-init-"));
  const weir = (...args: string[]) => runCommand(args, { cwd: folder });
  try {
    const { code, out } = await weir("config", "init");
    expect([code, out]).toEqual([0, "weir wrote weir.yaml, and weir.schema.json beside it for editors.\n"]);
    const text = readFileSync(join(folder, "weir.yaml"), "utf8");
    const named = /^# yaml-language-server: \$schema=(.+)$/.exec(text.split("\n")[0]!)?.[1];
    expect(existsSync(join(folder, named!))).toBe(true);
    expect(JSON.parse(readFileSync(join(folder, named!), "utf8"))).toEqual(
      JSON.parse((await weir("config", "schema")).out),
    );
    expect((await weir("check", "--offline")).out).toMatch(/^config +weir\.yaml/);
    const again = await weir("config", "init");
    expect([again.code, again.err]).toEqual([1, expect.stringContaining("weir.yaml already exists")]);
    const nowhere = await weir("config", "init", "--config", "no/such/weir.yaml");
    expect([nowhere.code, nowhere.err]).toEqual([
      1,
      expect.stringContaining("the folder no/such does not exist"),
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
