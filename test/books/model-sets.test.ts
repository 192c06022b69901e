/** Named sets of models mean the same in scopes, budgets, limits, prices, fallbacks and filters, and follow a reload. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { json, startUpstream, type Upstream } from "../helpers/upstream.ts";
import { until } from "../helpers/serving.ts";
import { askModel, type RunningBooks, startBooks } from "./running.ts";
import { completion } from "./stress.ts";

setDefaultTimeout(120_000);

let weir: RunningBooks;
let upstream: Upstream;
const admin: { change(sets: Record<string, string[]> | undefined): void } = { change: () => {} };

beforeAll(async () => {
  upstream = startUpstream((request) => {
    if (!request.path.endsWith("/chat/completions")) return json({ object: "list", data: [] });
    const { model } = JSON.parse(request.body.toString()) as { model: string };
    return model === "failing" ? json({ error: { message: "no" } }, 500) : json(completion());
  });
  const config = (modelSets: Record<string, string[]> | undefined) => ({
    providers: {
      host: {
        ...{ baseUrl: `${upstream.url}/v1`, speaks: "chat-completions" },
        models: ["big-1", "small-1", "tiny-2", "failing"],
      },
    },
    ...(modelSets && { modelSets }),
    aliases: { quick: "host/small-1" },
    ...(modelSets?.["weak"] && { fallbacks: { "@weak": ["host/big-1"] } }),
    ...(modelSets?.["cheap"] && {
      prices: { "@cheap": { input: 0, output: 0, request: 0.01 }, "*": 0 },
      budgets: { declared: { on: { model: "@cheap" }, limit: 100, every: "total" } },
    }),
    retries: { attempts: 2 },
  });
  weir = await startBooks({
    workers: 2,
    config: config({ cheap: ["small-*", "tiny-2"], weak: ["failing"], spare: ["big-1"] }),
  });
  admin.change = (sets) => weir.configure(JSON.stringify(config(sets)));
});

afterAll(async () => {
  await weir?.end();
  upstream?.stop();
});

const ask = (model: string, key?: string) => askModel(weir.url, model, key);

const told = (...args: string[]) => weir.run(...args).output;
const spentOn = async (name: string) => (await weir.budget(name)).windows[0]?.spent ?? 0;

let key = "";

test("budgets, prices, fallbacks and filters take a set", async () => {
  expect(told("budgets", "set", "stored", "5", "--on", "model:@cheap", "--hard")).toContain(
    "The budget stored is",
  );
  expect((await ask("quick")).status).toBe(200);
  expect((await ask("tiny-2")).status).toBe(200);
  expect((await ask("big-1")).status).toBe(200);
  const fallen = await ask("failing");
  expect([fallen.status, fallen.headers.get("x-weir-model")]).toEqual([200, "big-1"]);
  expect(await until(async () => (await spentOn("stored")) === 20_000_000, 10_000)).toBe(true);
  expect(await spentOn("declared")).toBe(20_000_000);
  const calls = (model: string) => (JSON.parse(told("logs", "--json", "--model", model)) as unknown[]).length;
  // Budgets count in memory at once; the rows of the same calls are written with the next group.
  await until(() => calls("@cheap") === 2 && calls("@spare") === 2, 10_000);
  expect([calls("@cheap"), calls("@weak"), calls("@spare")]).toEqual([2, 1, 2]);
  const { total } = JSON.parse(told("usage", "--json", "--model", "@cheap")) as { total: { calls: number } };
  expect(total.calls).toBe(2);
  expect(told("check", "--offline")).toContain("@cheap  small-*, tiny-2");
});

test("a scope takes a set, and what shows the key shows its patterns", async () => {
  key = weir.createKey("scoped", "--models", "@cheap");
  const statuses = async () =>
    Promise.all(
      ["quick", "host/tiny-2", "big-1", "@cheap"].map(async (model) => (await ask(model, key)).status),
    );
  expect(await statuses()).toEqual([200, 200, 403, 403]);
  expect(told("keys", "show", "scoped")).toMatch(/models +@cheap \(small-\*, tiny-2\)/);
  expect(told("budgets", "list")).toContain("model @cheap (small-*, tiny-2)");
  const own = await fetch(`${weir.url}/v1/key`, { headers: { authorization: `Bearer ${key}` } });
  expect(((await own.json()) as { scopes: { models: string[] } }).scopes.models).toEqual([
    "small-*",
    "tiny-2",
  ]);
});

test("a set that does not exist is refused when the rule is made, and in filters", async () => {
  const sentence = /here is no set of models named chaep; modelSets of the config has @cheap, @weak, @spare/;
  for (const args of [
    ["keys", "create", "typo", "--models", "@chaep"],
    ["keys", "update", "scoped", "--models", "@cheap,@chaep"],
    ["budgets", "set", "typo", "5", "--on", "model:@chaep"],
    ["rates", "set", "typo", "--rpm", "5", "--on", "model:@chaep"],
    ["logs", "--model", "@chaep"],
    ["usage", "--model", "@chaep"],
  ]) {
    const { code, output } = weir.run(...args);
    expect([args.join(" "), code, output]).toEqual([args.join(" "), 1, expect.stringMatching(sentence)]);
  }
});

test("a stored key and a stored budget follow the set when the file changes it", async () => {
  admin.change({ cheap: ["big-1"], weak: ["failing"], spare: ["big-1"] });
  expect(weir.run("reload").code).toBe(0);
  const statuses = async () =>
    (await Promise.all(["big-1", "quick"].map(async (model) => (await ask(model, key)).status))).join(" ");
  expect(await until(async () => (await statuses()) === "200 403", 10_000)).toBe(true);
  const before = await spentOn("stored");
  expect((await ask("big-1", key)).status).toBe(200);
  expect(await until(async () => (await spentOn("stored")) >= before + 10_000_000, 10_000)).toBe(true);
});

test("a reload without a set that a stored limit counts by is refused; the old config stays", async () => {
  admin.change({ weak: ["failing"], spare: ["big-1"] });
  const { code, output } = weir.run("reload");
  expect([code, output]).toEqual([
    1,
    expect.stringMatching(
      /modelSets has no set cheap, and the budget stored of the store counts its models; keep the set/,
    ),
  ]);
  expect((await ask("big-1", key)).status).toBe(200);
});

test("the scope of a key whose set was removed permits nothing, and the log and the key tell it", async () => {
  weir.run("budgets", "delete", "stored", "--yes");
  expect(weir.run("reload").code).toBe(0);
  expect(await until(async () => (await ask("big-1", key)).status === 403, 10_000)).toBe(true);
  const sentence = /modelSets of the config has no set cheap, so @cheap of the key scoped permits no model/;
  expect(await until(() => weir.log.some((line) => sentence.test(line)), 10_000)).toBe(true);
  expect(told("keys", "show", "scoped")).toContain("@cheap (no such set)");
  admin.change({ cheap: ["big-1"], weak: ["failing"] });
  expect(weir.run("reload").code).toBe(0);
  expect(await until(async () => (await ask("big-1", key)).status === 200, 10_000)).toBe(true);
});

test("a dry run of a deletion shows what would go, and deletes nothing", async () => {
  const prune = JSON.parse(told("store", "prune", "--key", "scoped", "--dry-run", "--json")) as {
    rows: number;
    tables: { calls: { rows: number } };
  };
  expect(told("store", "prune", "--key", "scoped", "--dry-run")).toMatch(
    /^weir would delete \d+ rows\.\n +table +rows/,
  );
  expect(told("keys", "revoke", "scoped", "--dry-run")).toMatch(
    /The key scoped \(key_.*\) would be revoked; its running answers would go on/,
  );
  weir.run("budgets", "set", "spare", "1", "--on", "model:@cheap");
  expect(told("budgets", "delete", "spare", "--dry-run")).toBe(
    "The budget spare on model @cheap (big-1) would be deleted.\n",
  );
  expect(told("budgets", "list")).toContain("spare");
  expect((await ask("big-1", key)).status).toBe(200);
  const done = JSON.parse(told("store", "prune", "--key", "scoped", "--yes", "--json")) as typeof prune;
  expect(done.tables.calls.rows).toBeGreaterThanOrEqual(prune.tables.calls.rows);
});
