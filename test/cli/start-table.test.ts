import { expect, test } from "bun:test";
import { assemble } from "../../src/assemble.ts";
import { startTable } from "../../src/cli/start-table.ts";
import { loadConfig } from "../../src/config/load.ts";
import { shippedSnapshot } from "../../src/ledger/prices/shipped.ts";

const DAY_MS = 86_400_000;

test("the start table says when the price book is older than 60 days", async () => {
  const { config } = loadConfig({ env: {}, cwd: import.meta.dir });
  const parts = await assemble(config, {});
  const imported = Date.parse(shippedSnapshot().head.date);
  const after = (days: number) =>
    startTable(
      { url: "http://127.0.0.1:9347", parts, answers: "in memory" },
      config,
      "in memory",
      imported + days * DAY_MS,
    );
  expect(after(0)).not.toContain("prices");
  expect(after(60)).not.toContain("prices");
  expect(after(61)).toContain(
    "\n  prices: 61 days old; update weir, or set prices of newer models in the config\n",
  );
});
