/** Models of the config that their provider turns off: what weir check says, and the log of a gateway. */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { ModelFacts } from "../../../core/model-facts.ts";
import { environmentIn } from "../../../../test/helpers/environment.ts";
import { endingModels } from "../endings.ts";
import { startWith } from "../worker.ts";

const QUICK = { firstMs: 1, everyMs: 5 };
const NOW = Date.parse("2026-11-22T12:00:00Z");
const LAST_DAYS: Record<string, string> = {
  "acme/past": "2026-10-01",
  "acme/soon": "2026-12-22",
  "acme/later": "2026-12-23",
};

const catalog = {
  list: async () => [],
  known: async (id: string) => {
    const day = LAST_DAYS[id];
    const facts: ModelFacts = day === undefined ? {} : { deprecatedOn: day };
    return { id, provider: "acme", does: ["chat"], facts };
  },
};

const config = {
  aliases: { fast: "acme/soon", "old-*": "acme/past" },
  routes: { smart: ["acme/current", { model: "acme/soon" }] },
  fallbacks: { smart: ["acme/later", "acme/past"] },
};

test("models that end within 30 days, or have ended, are named with their places", async () => {
  expect(await endingModels({ config, catalog }, NOW)).toEqual([
    "acme/soon (at aliases.fast, routes.smart[1]): the provider turns this model off on 2026-12-22; name another model.",
    'acme/past (at aliases["old-*"], fallbacks.smart[1]): the provider was to turn this model off on 2026-10-01; name another model.',
  ]);
});

test("a gateway reports them again and again, of the config that holds then, until it stops", async () => {
  const said: string[] = [];
  let aliases: Record<string, string> = {};
  const { promise, resolve: isReported } = Promise.withResolvers<void>();
  const host = {
    isFirst: true,
    served: () => ({ config: { ...config, aliases, routes: {}, fallbacks: {} }, catalog }),
    info(sentence: string) {
      said.push(sentence);
      if (said.length === 2) isReported();
    },
  };
  const part = startWith(host, QUICK);
  await Bun.sleep(20);
  expect(said).toEqual([]);
  aliases = { gone: "acme/past" };
  await promise;
  part.stop?.();
  const { length } = said;
  await Bun.sleep(30);
  expect(said.length).toBe(length);
  expect(said[0]).toContain("acme/past (at aliases.gone)");
});

test("of several processes of a gateway, the first one alone reports", async () => {
  const said: string[] = [];
  const served = () => ({ config, catalog });
  const processes = [true, false].map((isFirst) =>
    startWith({ isFirst, served, info: (sentence) => said.push(`${isFirst} ${sentence}`) }, QUICK),
  );
  for (let tries = 0; said.length === 0 && tries < 200; tries++) await Bun.sleep(10);
  for (const part of processes) part.stop?.();
  expect(said.length).toBeGreaterThan(0);
  expect(said.filter((sentence) => sentence.startsWith("false"))).toEqual([]);
});

test("weir check warns of such a model and ends without an error", async () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-ending-"));
  // The price book knows its last day, which is past.
  writeFileSync(
    join(folder, "weir.yaml"),
    JSON.stringify({ providers: { openai: { apiKey: "unused" } }, aliases: { nano: "openai/gpt-4.1-nano" } }),
  );
  const main = resolve(import.meta.dir, "../../../main.ts");
  const run = (...words: string[]) =>
    Bun.spawnSync([process.execPath, main, ...words], { cwd: folder, env: environmentIn(folder) });
  const checked = run("check", "--offline");
  expect(checked.stderr.toString()).toContain("openai/gpt-4.1-nano (at aliases.nano): the provider");
  expect(checked.exitCode).toBe(0);
  const report = JSON.parse(run("check", "--offline", "--json").stdout.toString()) as { warnings: string[] };
  expect(report.warnings.length).toBe(1);
  writeFileSync(join(folder, "request.json"), '{"model":"nano","messages":[{"role":"user","content":"Hi"}]}');
  const explained = JSON.parse(run("explain", "request.json").stdout.toString()) as {
    served_by: { turned_off_on: string };
  };
  expect(explained.served_by.turned_off_on).toMatch(/^\d{4}-\d{2}-\d{2}$/);
  rmSync(folder, { recursive: true });
}, 60_000);
