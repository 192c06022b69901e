/** Reports by the admin API. */
import { expect, test } from "bun:test";
import type { AttemptRecord } from "../../src/ledger/record.ts";
import { fakeAdmin } from "../helpers/admin.ts";

test("a report is limited to the caller's path, whatever it asks for", async () => {
  const { send, addKey, books } = fakeAdmin();
  const key = addKey("read", "/eng");
  await send("GET", "/admin/v1/usage?by=key,model&from=5&path=/sales", { key });
  expect(books.asked).toEqual({ by: ["key", "model"], from: 5, path: "/sales", within: "/eng" });
});

test("a key is named by id or name, and one on another path does not exist", async () => {
  const { send, addKey, books } = fakeAdmin();
  addKey("call", "/sales", { id: "key_1", name: "alice" });
  await send("GET", "/admin/v1/usage?key=alice");
  expect(books.asked).toMatchObject({ key: "key_1" });
  const read = addKey("read", "/eng");
  expect((await send("GET", "/admin/v1/usage?key=alice", { key: read })).status).toBe(404);
});

test("M1: usage as CSV has its time, a column for each group and sum in dollars, and no formula", async () => {
  const { send, addKey } = fakeAdmin();
  addKey("call", "/", { id: "=SUM(A1)", name: "alice" });
  const { text, headers } = await send("GET", "/admin/v1/usage?by=key,day", {
    headers: { accept: "text/csv" },
  });
  expect(headers.get("content-type")).toBe("text/csv; charset=utf-8");
  const [head, row, end] = text.split("\r\n");
  expect(head).toStartWith("from,to,key,day,keyName,calls,failed,");
  expect(head).toEndWith(",unpriced,ms,firstMs,spent,certain,estimated,assumed,reported,untiered");
  expect(row).toMatch(/^[^,]*,[^,]*,'=SUM\(A1\),[^,]*,alice,3,0,/);
  expect(row).toMatch(/(,-?\d+\.\d{9}){6}$/);
  expect(head!.split(",")).toHaveLength(row!.split(",").length);
  expect(end).toBe("");
});

test("usage by key names the key beside its id", async () => {
  const { send, addKey } = fakeAdmin();
  const { body } = await send("GET", "/admin/v1/usage?by=key");
  expect(body.rows[0]).not.toHaveProperty("keyName");
  addKey("call", "/", { id: "=SUM(A1)", name: "alice" });
  const { body: named } = await send("GET", "/admin/v1/usage?by=key");
  expect(named.rows[0]).toMatchObject({ group: { key: "=SUM(A1)" }, keyName: "alice" });
});

test("a call of another path does not exist, nor one without a path for a key with one", async () => {
  const { send, addKey, books } = fakeAdmin();
  const key = addKey("read", "/eng");
  const call = { startedAt: 0, ms: 1, format: "f", model: "m", stream: false, status: 200, attempts: [] };
  books.records.push(
    { ...call, id: "req_eng", path: "/eng/a", outcome: "complete" },
    { ...call, id: "req_sales", path: "/sales", outcome: "complete" },
    { ...call, id: "req_none", outcome: "complete" },
  );
  const statusOf = async (id: string) => (await send("GET", `/admin/v1/calls/${id}`, { key })).status;
  expect([await statusOf("req_eng"), await statusOf("req_sales"), await statusOf("req_none")]).toEqual([
    200, 404, 404,
  ]);
  expect((await send("GET", "/admin/v1/calls/req_none")).status).toBe(200);
});

test("an interval that ends before it begins is refused", async () => {
  const { send } = fakeAdmin();
  expect((await send("GET", "/admin/v1/calls?from=10&to=5")).body.error.path).toBe("?to");
});

test("the charges of a call are lines that add up, with their rule and the names of their budgets", async () => {
  const { send, addKey, books } = fakeAdmin();
  const rule = {
    ref: "r1",
    provider: "p",
    model: "m",
    input: 1_000_000,
    output: 2_000_000,
    source: "config",
  };
  books.rulesByRef.set("r1", rule);
  books.budgets.set("bud_1", {
    ...{ id: "bud_1", name: "eng, month", on: { kind: "all", what: "" }, window: "month", zone: "UTC" },
    ...{ limit: 1, mode: "hard", onEmpty: "refuse", alerts: [], source: "store" },
  });
  const attempt: AttemptRecord = {
    ...{ provider: "p", deployment: "p", model: "m", class: "answered", ms: 1, held: 0 },
    usage: { input: 3, cacheRead: 0, cacheWrite: 0, output: 4, reasoning: 0 },
    charge: { state: "metered", cost: 11_000, price: "r1" },
    accounts: ["b:bud_1@0", "b:gone@0", "r:x:rpm"],
  };
  books.records.push({
    ...{
      id: "req_1",
      path: "/eng",
      startedAt: 0,
      ms: 1,
      format: "f",
      model: "m",
      stream: false,
      status: 200,
    },
    ...{ outcome: "complete", attempts: [attempt] },
  });
  const { body } = await send("GET", "/admin/v1/calls/req_1/money");
  expect(body.attempts).toEqual([
    {
      lines: [
        { what: "input", count: 3, price: 1_000_000, amount: 3_000 },
        { what: "output", count: 4, price: 2_000_000, amount: 8_000 },
      ],
      rule: { ref: "r1", provider: "p", model: "m", source: "config" },
      budgets: [
        { id: "bud_1", name: "eng, month" },
        { id: "gone", name: "gone" },
      ],
    },
  ]);
  const key = addKey("read", "/sales");
  expect((await send("GET", "/admin/v1/calls/req_1/money", { key })).status).toBe(404);
});
