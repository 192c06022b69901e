/** Models of the store in a worker: which of them serve, and what waits until they are known. */
import { expect, test } from "bun:test";
import { NewStoredModel } from "../../src/operator/stored-models.ts";
import { assemble } from "../../src/run/assemble.ts";
import { loadConfig } from "../../src/config/load.ts";
import { MODEL_SETTINGS } from "../../src/config/sections/models.ts";
import { MEMBERS, shapeFault } from "../../src/config/stored-models.ts";
import type { JsonObject } from "../../src/core/json.ts";
import type { StoredModel } from "../../src/ledger/policy.ts";
import { StoredModels } from "../../src/run/stored-models.ts";

const EMPTY = { version: 1, keys: [], budgets: [], rates: [], closed: false };

const modelOf = (name: string, spec: JsonObject): StoredModel => ({ id: `model:${name}`, name, spec });

/** A worker without a gateway around it, with the mock as its only provider. */
async function makeWorker(awaits = false) {
  const { config } = loadConfig({ env: {}, cwd: "/nonexistent" });
  const parts = await assemble(config, {});
  const told: string[] = [];
  const stored: StoredModels = new StoredModels({
    awaits,
    onChange: () => void stored.apply({ config, parts }),
    report: (sentence) => told.push(sentence),
  });
  parts.registry.stored = stored;
  const send = (...models: StoredModel[]) => stored.receive({ kind: "policy", policy: { ...EMPTY, models } });
  return { stored, registry: parts.registry, told, send };
}

test("a call waits until the models of the store are known, also one of a name that a provider serves", async () => {
  const { registry, send } = await makeWorker(true);
  const waiting = [registry.prepare("fast"), registry.prepare("mock/chat")];
  expect(waiting.every((one) => one instanceof Promise)).toBe(true);
  send(modelOf("fast", { to: "mock/echo" }), modelOf("mock/chat", { to: "mock/echo" }));
  await Promise.all(waiting);
  expect(registry.prepare("fast")).toBeUndefined();
  expect(registry.servedBy("fast")[0]?.model).toBe("echo");
  expect(registry.servedBy("mock/chat")[0]?.model).toBe("echo");
});

test("an entry that cannot serve is left out alone, and reported once", async () => {
  const { stored, registry, told, send } = await makeWorker();
  const models = [
    modelOf("good", { to: "mock/echo" }),
    modelOf("odd", { to: 5 }),
    modelOf("one", { to: "two" }),
    modelOf("two", { to: "one" }),
    modelOf("inner", { to: ["mock/echo"] }),
    modelOf("outer", { to: ["inner"] }),
    modelOf("gone", { to: "nowhere/model" }),
    { ...modelOf("torn", {}), damage: "its row in the store is not valid JSON" },
  ];
  send(...models);
  send(...models);
  expect(stored.states.map(({ name, state }) => `${name} ${state}`).sort()).toEqual([
    "gone unserved",
    "good serving",
    "inner serving",
    "odd refused",
    // The model that it names is no model of a provider: the other half of the cycle is left out.
    "one unserved",
    "outer refused",
    "torn damaged",
    "two refused",
  ]);
  expect(registry.servedBy("good")[0]?.model).toBe("echo");
  expect(told).toHaveLength(6);
  expect(told).toContain("the stored model two is not used: two resolves to itself (at to).");
  expect(() => registry.plan("gone", "chat-completions")).toThrow("`nowhere/model`, for which `gone` stands");
});

test("an entry may have each setting of the section models", () => {
  const settings: JsonObject = {
    set: { temperature: 1 },
    retries: { attempts: 2 },
    circuitBreaker: {},
  };
  expect(MODEL_SETTINGS).toEqual(
    expect.arrayContaining(["force", "body", "timeouts", ...Object.keys(settings)]),
  );
  expect(Object.keys(NewStoredModel.properties).sort()).toEqual(["name", ...MEMBERS].sort());
  expect(shapeFault({ name: "a", spec: { to: "mock/echo", ...settings } })).toBeUndefined();
});

test("a removed entry is gone, and the names of the config stay", async () => {
  const { stored, registry, send } = await makeWorker();
  send(modelOf("fast", { to: "mock/echo" }));
  expect(registry.isUnconfigured).toBe(false);
  stored.receive({ kind: "changes", version: 2, closed: false, upserts: {}, removed: ["model:fast"] });
  expect([registry.isOff("fast"), registry.isOff("mock/chat")]).toEqual([true, false]);
  expect([stored.states, registry.isUnconfigured]).toEqual([[], true]);
});
