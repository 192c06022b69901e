/** What weir writes for each fixture, and that it loads. `UPDATE=1` writes the expectations anew. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { operationsOf } from "../../../gateway/routing/tasks.ts";
import { fixtures, importFixture, load, verified } from "./imported.ts";

const UPDATE = process.env["UPDATE"] === "1";

describe.each(fixtures.map((fixture) => [fixture.name, fixture] as const))("%s", (_, fixture) => {
  const imported = importFixture(fixture);

  test("becomes the expected weir.yaml", async () => {
    const { yaml } = await verified(imported);
    if (UPDATE) writeFileSync(fixture.golden, yaml);
    expect(existsSync(fixture.golden)).toBe(true);
    expect(yaml).toBe(readFileSync(fixture.golden, "utf8"));
  });

  test("loads, and every alias, route and fallback names a model that is served", async () => {
    // One fixture has no key for a provider that needs one.
    const { config, registry } = await load(imported, { QWEN_API_KEY: "set" });
    for (const name of [...Object.keys(config.aliases), ...Object.keys(config.routes)]) {
      const model = name.replaceAll("*", "x");
      const [operation] = operationsOf(registry.servedBy(model), registry.kinds);
      expect(registry.plan(model, "chat-completions", operation).choices.length).toBeGreaterThan(0);
    }
  });

  test("contains no secret of the source", () => {
    for (const { value } of imported.variables)
      if (value !== undefined) expect(imported.yaml).not.toContain(value);
    expect(imported.yaml).not.toMatch(/literal|sk-(?!.*\/)/);
  });
});

test("there are at least six configs of each source", () => {
  for (const [source, list] of Object.entries(Object.groupBy(fixtures, (fixture) => fixture.source)))
    expect([source, (list?.length ?? 0) >= 6]).toEqual([source, true]);
});
