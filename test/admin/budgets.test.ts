/** Budgets and rate limits by the admin API. */
import { expect, test } from "bun:test";
import { fakeAdmin } from "../helpers/admin.ts";

const BUDGETS = "/admin/v1/budgets";
const RATES = "/admin/v1/rates";
const ALL = { kind: "all", what: "" };
const NEW = { name: "b", on: ALL, limit: 100_000_000 };

test("a new budget has the defaults, and shows its figures", async () => {
  const { send } = fakeAdmin();
  const created = await send("POST", BUDGETS, { body: NEW });
  expect(created.status).toBe(201);
  expect(created.body).toMatchObject({
    ...{ window: "month", zone: "UTC", mode: "soft", onEmpty: "refuse", alerts: [80, 100], source: "store" },
    windows: [{ spent: 10, assumed: 2, held: 3, granted: 7, overrun: 1, left: 100_000_000 - 10 - 2 - 3 }],
  });
  // 12 nano-dollars until 1.8e12 of 4e12 milliseconds.
  expect(created.body.windows[0].forecast).toBe(27);
});

test("raise sets a higher limit and refuses a lower one, which PATCH sets", async () => {
  const { send } = fakeAdmin();
  await send("POST", BUDGETS, { body: NEW });
  const raise = (limit: number) => send("POST", `${BUDGETS}/b/raise`, { body: { limit } });
  expect((await raise(200_000_000)).body.limit).toBe(200_000_000);
  expect((await raise(100_000_000)).body.error.path).toBe("/limit");
  expect((await send("PATCH", `${BUDGETS}/b`, { body: { limit: 0 } })).body.limit).toBe(0);
});

test("wrong budgets are refused with the member that is wrong", async () => {
  const { send } = fakeAdmin();
  const faultOf = async (more: object) =>
    (await send("POST", BUDGETS, { body: { ...NEW, ...more } })).body.error.path as string;
  expect(await faultOf({ zone: "Mars/Olympus" })).toBe("/zone");
  expect(await faultOf({ alerts: [80, 80] })).toBe("/alerts");
  expect(await faultOf({ limit: 50 })).toBe("/limit");
  expect(await faultOf({ limit: 0.5 })).toBe("/limit");
  expect(await faultOf({ limit: -1 })).toBe("/limit");
  expect(await faultOf({ on: { kind: "all", what: "x" } })).toBe("/on/what");
  expect(await faultOf({ on: { kind: "path", what: "" } })).toBe("/on/what");
  expect(await faultOf({ window: "fortnight" })).toBe("/window");
  expect(await faultOf({ unknown: 1 })).toBe("/unknown");
});

test("a budget on a key is stored with the key's id, and a key that does not exist is an error", async () => {
  const { send, addKey, books } = fakeAdmin();
  addKey("call", "/", { id: "key_1", name: "alice" });
  const on = (what: string) => ({ ...NEW, on: { kind: "key", what } });
  expect((await send("POST", BUDGETS, { body: on("nobody") })).status).toBe(404);
  expect((await send("POST", BUDGETS, { body: on("alice") })).status).toBe(201);
  expect([...books.budgets.values()][0]!.on).toEqual({ kind: "key", what: "key_1" });
});

test("a key with a path limits what lies on its path only", async () => {
  const { send, addKey } = fakeAdmin();
  const key = addKey("admin", "/eng");
  const create = (on: object) => send("POST", BUDGETS, { key, body: { ...NEW, on } });
  for (const on of [
    ALL,
    { kind: "path", what: "/" },
    { kind: "path", what: "/engineers" },
    { kind: "model", what: "openai/*" },
    { kind: "provider", what: "openai" },
    { kind: "tag", what: "x" },
  ])
    expect((await create(on)).status).toBe(403);
  expect((await create({ kind: "path", what: "/eng/a" })).status).toBe(201);
  expect((await send("GET", BUDGETS, { key })).body.budgets).toHaveLength(1);
});

test("declared budgets and limits cannot be changed or deleted here", async () => {
  const { send, books } = fakeAdmin();
  await send("POST", BUDGETS, { body: NEW });
  await send("POST", RATES, { body: { name: "r", on: ALL, limits: { rpm: 1 } } });
  for (const [id, budget] of books.budgets) books.budgets.set(id, { ...budget, source: "config" });
  for (const [id, rate] of books.limits) books.limits.set(id, { ...rate, source: "config" });
  for (const path of [`${BUDGETS}/b`, `${RATES}/r`]) {
    expect((await send("PATCH", path, { body: {} })).body.error.code).toBe("declared");
    expect((await send("DELETE", path)).body.error.code).toBe("declared");
  }
});

test("a rate limit needs a unit, and keeps its burst", async () => {
  const { send } = fakeAdmin();
  const create = (limits: object, burst?: object) =>
    send("POST", RATES, { body: { name: "r", on: ALL, limits, burst } });
  expect((await create({})).body.error.path).toBe("/limits");
  expect((await create({ rpm: 0 })).body.error.path).toBe("/limits/rpm");
  expect((await create({ requests: 1 })).body.error.path).toBe("/limits/requests");
  expect((await create({ rpm: 60, concurrency: 5 }, { rpm: 10 })).body).toMatchObject({
    limits: { rpm: 60, concurrency: 5 },
    burst: { rpm: 10 },
  });
});

test("lists have pages", async () => {
  const { send } = fakeAdmin();
  for (let count = 0; count < 7; count++)
    await send("POST", BUDGETS, { body: { ...NEW, name: `b${count}` } });
  const names: string[] = [];
  for (let after = ""; ;) {
    const { body } = await send("GET", `${BUDGETS}?limit=3${after && `&after=${after}`}`);
    names.push(...body.budgets.map(({ name }: { name: string }) => name));
    if (body.next === undefined) break;
    after = body.next;
  }
  expect(names.sort()).toEqual(["b0", "b1", "b2", "b3", "b4", "b5", "b6"]);
});
