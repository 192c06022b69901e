/** `weir keys update`, what `keys show` and `keys list` say of limits, and `weir audit log`, on a gateway that runs. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { AuditEntry } from "../../src/operator/index.ts";
import type { Key } from "../../src/operator/index.ts";
import { until } from "../helpers/serving.ts";
import { type RunningBooks, startBooks } from "./running.ts";

setDefaultTimeout(120_000);

let weir: RunningBooks;

const CONFIG = {
  prices: { "mock/*": { input: 0, output: 0, request: 0.25 } },
  keyBudgets: {
    "/trial": "0.5/day",
    "/trial/*/gold": { every: "total", limit: 9, mode: "hard" },
  },
};

beforeAll(async () => {
  weir = await startBooks({
    workers: 1,
    config: CONFIG,
  });
});
afterAll(() => weir?.end());

function json<Value>(...args: string[]): Value {
  const { code, output } = weir.run(...args, "--json");
  if (code !== 0) throw new Error(output);
  // Standard error stands behind it.
  return JSON.parse(output.slice(0, Math.max(output.lastIndexOf("}"), output.lastIndexOf("]")) + 1)) as Value;
}

function statusOf(key: string, model: string): Promise<number> {
  return fetch(`${weir.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify({ model, max_tokens: 10, messages: [{ role: "user", content: "hello" }] }),
  }).then(async (response) => {
    await response.arrayBuffer();
    return response.status;
  });
}

test("keys create takes tags one by one, and a budget by the hour", () => {
  const secret = weir.createKey("app", "--tag", "a", "--tag", "b,c", "--budget", "5/hour", "--rpm", "60");
  expect(secret).toStartWith("weir_sk_");
  expect(json<Key>("keys", "show", "app").tags).toEqual(["a", "b", "c"]);
  expect(json<{ window: unknown }[]>("budgets", "list")[0]).toMatchObject({ window: { hours: 1 } });
});

test("keys update changes what is given, keeps the rest, and unsets", async () => {
  const secret = weir.createKey("up", "--models", "mock/chat", "--max-cost", "3", "--path", "/old");
  expect([await statusOf(secret, "mock/chat"), await statusOf(secret, "mock/echo")]).toEqual([200, 403]);
  const changed = json<Key>(
    ...["keys", "update", "up", "--path", "/eng", "--tag", "x", "--models", "mock/echo"],
    ...["--models", "mock/long-*", "--expires", "90d"],
  );
  expect(changed).toMatchObject({
    ...{ path: "/eng", tags: ["x"] },
    scopes: { models: ["mock/echo", "mock/long-*"], maxCost: 3_000_000_000 },
  });
  expect(changed.expiresAt! - Date.now()).toBeGreaterThan(89 * 86_400_000);
  expect([await statusOf(secret, "mock/chat"), await statusOf(secret, "mock/echo")]).toEqual([403, 200]);
  const unset = json<Key>("keys", "update", "up", "--unset", "models,max-cost", "--unset", "expires,tags");
  expect([unset.scopes, unset.tags, unset.expiresAt]).toEqual([{}, [], undefined]);
  expect(await statusOf(secret, "mock/chat")).toBe(200);
});

test("keys update says what is wrong with a change", () => {
  const says = (...args: string[]) => weir.run("keys", "update", ...args);
  expect(says("up")).toMatchObject({ code: 2, output: expect.stringContaining("requires a change") });
  expect(says("up", "--unset", "colour").output).toContain('"colour" is none of them');
  expect(says("nobody", "--path", "/x").output).toContain("nobody");
  expect(says("up", "--path", "no-slash").code).not.toBe(0);
  expect(says("up", "--models", "cluade-*").output).toContain('matches "cluade-*"');
  weir.run("keys", "update", "up", "--unset", "models");
});

test("keys show and keys list say budgets, rate limits and what was spent", async () => {
  const secret = weir.createKey("spender", "--budget", "50/month", "--rpm", "60", "--path", "/eng");
  weir.run("budgets", "set", "eng", "100/day", "--on", "path:/eng");
  weir.run("budgets", "set", "one-model", "7", "--on", "model:mock/chat");
  for (let n = 0; n < 3; n++) expect(await statusOf(secret, "mock/chat")).toBe(200);
  const shown = () => json<Key>("keys", "show", "spender").limits!;
  expect(await until(() => shown().spent === 750_000_000 && shown().budgets[0]!.spent > 0, 15_000)).toBe(
    true,
  );
  const limits = shown();
  expect(limits.budgets.map(({ name, spent, left }) => [name, spent, left]).sort()).toEqual([
    ["eng", 750_000_000, 99_250_000_000],
    ["spender", 750_000_000, 49_250_000_000],
  ]);
  expect(limits.rates).toMatchObject([{ name: "spender", limits: { rpm: 60 } }]);
  const text = weir.run("keys", "show", "spender").output;
  expect(text).toMatch(/spent in 30 days +\$0\.75/);
  expect(text).toMatch(/budget spender +\$0\.75 of \$50\.00 a month, soft, \$49\.25 left, resets .* UTC/);
  expect(text).toMatch(/rate spender +60 rpm/);
  const row = weir
    .run("keys", "list")
    .output.split("\n")
    .find((line) => line.startsWith("spender"));
  expect(row).toMatch(/\$0\.75 +\$0\.75 of \$50\.00 a month +60 rpm/);
  // Without the wish for them, a list costs no sums.
  const plain = await weir.api.send<{ keys: Key[] }>("GET", "/keys");
  expect(plain.keys.every(({ limits }) => limits === undefined)).toBe(true);
});

test("audit log says who changed what, from what to what", () => {
  weir.run("budgets", "raise", "eng", "200");
  const entries = json<AuditEntry[]>("audit", "log", "--last", "3");
  expect(entries).toHaveLength(3);
  expect(entries[0]).toMatchObject({ action: "change", after: { name: "eng", limit: 200e9 } });
  const { code, output } = weir.run("audit", "log", "--of", "budgets");
  expect(code).toBe(0);
  expect(output).toMatch(/run-file +127\.0\.0\.1 +change +budgets\/\S+ +limit \$100\.00 → \$200\.00\n/);
  expect(weir.run("audit", "log", "--since", "2999-01-01").output).toContain("No change matches.");
  expect(weir.run("audit", "log", "--actor", "nobody").output).toContain("No change matches.");
  // The proof of the books is another command.
  expect(weir.run("audit").output).toContain("The books hold.");
});

test("a new key gets the budget of its path, the longest match, and one that it names itself before that", async () => {
  const created = weir.run("keys", "create", "t1", "--path", "/trial/anna");
  expect(created.output).toContain("Its budget t1 is $0.50 a day, soft.");
  const budgetOf = (name: string, path: string, ...more: string[]) => {
    const made = json<{ budget?: { limit: number; mode: string } }>(
      "keys",
      "create",
      name,
      "--path",
      path,
      ...more,
    );
    return made.budget && [made.budget.limit, made.budget.mode];
  };
  expect(budgetOf("t2", "/trial")).toEqual([500_000_000, "soft"]);
  expect(budgetOf("t3", "/trial/bob/gold")).toEqual([9e9, "hard"]);
  expect(budgetOf("t4", "/trial", "--budget", "7")).toEqual([7e9, "soft"]);
  expect(budgetOf("t5", "/trials")).toBeUndefined();
  // A budget that has the name already refuses no key.
  weir.run("budgets", "set", "t6", "1", "--on", "all");
  expect(budgetOf("t6", "/trial")).toEqual([500_000_000, "soft"]);
  // Each key has a budget of its own.
  const [one, other] = [weir.createKey("t7", "--path", "/trial"), weir.createKey("t8", "--path", "/trial")];
  weir.run("budgets", "delete", "t6");
  await statusOf(one, "mock/chat");
  await statusOf(one, "mock/chat");
  expect(await until(async () => (await statusOf(one, "mock/chat")) === 429, 10_000)).toBe(true);
  expect(await statusOf(other, "mock/chat")).toBe(200);
});

test("budgets for new keys follow a reload", async () => {
  weir.configure(JSON.stringify({ ...CONFIG, keyBudgets: { "/other": "3/week" } }));
  expect(weir.run("reload").code).toBe(0);
  const made = (name: string, path: string) =>
    json<{ budget?: { limit: number } }>("keys", "create", name, "--path", path).budget?.limit;
  let tries = 0;
  expect(await until(() => made(`r${++tries}`, "/other") === 3e9, 10_000)).toBe(true);
  expect(made("last", "/trial")).toBeUndefined();
});
