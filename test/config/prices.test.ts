import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assemble } from "../../src/run/assemble.ts";
import { loadConfig } from "../../src/config/load.ts";

test("a price of a provider that no plugin defines stops the start, and a pattern over providers does not", async () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-prices-"));
  const start = async (yaml: string) => {
    writeFileSync(join(folder, "weir.yaml"), yaml);
    const { config, locate } = loadConfig({ env: {}, cwd: folder });
    return assemble(config, {}, locate);
  };
  try {
    await expect(start('prices:\n  "opnai/*": {input: 10, output: 0}')).rejects.toThrow(
      'weir.yaml:2: no plugin defines a provider named opnai, did you mean openai? (at prices["opnai/*"]).',
    );
    await start('prices:\n  "*/free-*": 0\n  "*": 0\n  "openai/gpt-5.4": {input: 1, output: 2}');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
