/** Names of the config that no provider serves stop the start. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assemble } from "../../src/run/assemble.ts";
import { loadConfig } from "../../src/config/load.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-served-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function start(yaml: string): Promise<string> {
  writeFileSync(join(folder, "weir.yaml"), yaml);
  const { config, locate } = loadConfig({ env: {}, cwd: folder });
  return assemble(config, {}, locate).then(
    () => "started",
    (error: Error) => error.message,
  );
}

test("an alias, a route or a fallback to a model that no provider serves stops the start", async () => {
  const sentence = /^weir\.yaml:2: No provider serves the model `opnai\/gpt-5`.*\(at (.+)\)\.$/;
  const at = async (yaml: string) => sentence.exec(await start(yaml))?.[1];
  expect(await at("aliases:\n  fast: opnai/gpt-5\n")).toBe("aliases.fast");
  expect(await at("routes:\n  smart: [opnai/gpt-5]\n")).toBe("routes.smart[0]");
  expect(await at("fallbacks:\n  mock/chat: [opnai/gpt-5]\n")).toBe('fallbacks["mock/chat"][0]');
});

test("an alias of an alias is judged by the model at its end", async () => {
  expect(await start("aliases:\n  a: b\n  b: opnai/gpt-5\n")).toContain("`opnai/gpt-5`");
  expect(await start("aliases:\n  a: b\n  b: mock/chat\n")).toBe("started");
});

test("a model of a provider that is off does not stop the start", async () => {
  expect(await start("aliases:\n  fast: openai/gpt-5\n")).toBe("started");
  expect(await start("routes:\n  smart: [openai/gpt-5]\naliases:\n  fast: smart\n")).toBe("started");
  expect(await start("fallbacks:\n  mock/chat: [openai/gpt-5]\n")).toBe("started");
});
