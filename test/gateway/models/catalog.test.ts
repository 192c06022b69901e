/** The catalog: when facts are read, what is kept, and what a route has in common. */
import { afterEach, expect, test } from "bun:test";
import type { FactBook, ModelFacts } from "../../../src/core/model-facts.ts";
import { chatCompletionsFormat } from "../../../src/formats/chat-completions/index.ts";
import { ModelCatalog } from "../../../src/gateway/models/catalog.ts";
import { Registry } from "../../../src/gateway/routing/registry.ts";
import { chatCompletions, definePlugin } from "../../../src/plugin.ts";
import { json, startUpstream, type Upstream } from "../../helpers/upstream.ts";

const FACTS: Record<string, ModelFacts> = {
  "acme/large": { contextWindow: 1000, abilities: { tools: true } },
  "acme/small": { contextWindow: 100, abilities: { tools: true } },
};

let upstream: Upstream | undefined;

afterEach(() => upstream?.stop());

function catalogOf(count: { reads: number }, host?: string): ModelCatalog {
  const acme = chatCompletions({
    ...{ name: "acme", baseUrl: host ?? "http://127.0.0.1:1", catalog: ["large", "small"] },
    liveModels: host !== undefined,
  });
  const registry = new Registry({
    plugins: [{ plugin: definePlugin({ name: "acme", providers: [acme] }), source: "built-in" }],
    formats: [chatCompletionsFormat],
    settings: () => ({}),
    aliases: { quick: "acme/small" },
    routes: {
      both: [
        { model: "acme/large", weight: 1, priority: 0 },
        { model: "acme/small", weight: 1, priority: 0 },
      ],
    },
  });
  const book: FactBook = {
    ofConfig: () => undefined,
    ofSnapshot: (provider, model) => FACTS[`${provider}/${model}`],
  };
  return new ModelCatalog(registry, async () => {
    count.reads++;
    return book;
  });
}

test("facts are read at the first list, and once", async () => {
  const count = { reads: 0 };
  const catalog = catalogOf(count);
  expect(count.reads).toBe(0);
  const first = await catalog.list();
  await catalog.find("acme/other");
  const second = await catalog.list();
  expect(count.reads).toBe(1);
  expect(second).toBe(first);
});

test("an alias has the facts of its model, and a route what its models have in common", async () => {
  const models = new Map((await catalogOf({ reads: 0 }).list()).map((model) => [model.id, model]));
  expect(models.get("quick")).toMatchObject({
    provider: "acme",
    model: "small",
    facts: { contextWindow: 100 },
  });
  expect(models.get("both")?.facts).toEqual({ contextWindow: 100, abilities: { tools: true } });
  expect(models.get("both")).not.toHaveProperty("model");
});

test("a model that is not listed is found with its facts, and one that no provider serves is not", async () => {
  const catalog = catalogOf({ reads: 0 });
  expect(await catalog.find("acme/large")).toMatchObject({ model: "large", facts: { contextWindow: 1000 } });
  expect((await catalog.find("acme/unknown"))?.facts).toBeUndefined();
  expect(await catalog.find("unknown")).toBeUndefined();
});

test("what the host tells is used from the moment it tells it", async () => {
  upstream = startUpstream(() => json({ data: [{ id: "large", max_model_len: 50 }] }));
  const catalog = catalogOf({ reads: 0 }, upstream.url);
  expect((await catalog.known("acme/large"))?.facts?.contextWindow).toBe(1000);
  expect((await catalog.find("acme/large"))?.facts).toEqual({
    contextWindow: 50,
    abilities: { tools: true },
  });
}, 60_000);
