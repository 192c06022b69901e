/** Planted columns of a feature: one declaration in its manifest, and log, store, admin API, OpenAPI, `weir logs`, CSV and console have it. */
import { Type } from "@sinclair/typebox";
import { expect, test } from "bun:test";
import { openApiDocument } from "../../src/admin/openapi.ts";
import { listOperations } from "../../src/admin/operations/index.ts";
import { callsCsv } from "../../src/cli/books/calls-csv.ts";
import { describeCall } from "../../src/cli/books/logs.ts";
import { commandsWith } from "../../src/cli/commands.ts";
import { csvOf } from "../../src/console/pages/calls/csv.ts";
import { apiFilter } from "../../src/console/data/filters.ts";
import { column } from "../../src/core/column.ts";
import { IN_MEMORY } from "../../src/keeper/settings.ts";
import { Reports } from "../../src/keeper/reports/reports.ts";
import { sqliteStore } from "../../src/keeper/store/sqlite-store.ts";
import type { CallEntry, Calls } from "../../src/operator/calls.ts";
import { columnsOf, type Feature } from "../../src/feature/feature.ts";
import { columnsWith } from "../../src/run/columns.ts";
import { createLogger } from "../../src/server/log.ts";
import { FEATURES } from "../helpers/features.ts";
import { type FakeAdmin, fakeAdmin } from "../helpers/admin.ts";
import { callOf } from "../helpers/ledger.ts";
import { batch, call as recordOf, commit, NOW } from "../keeper/books/make.ts";

const tool = column({
  name: "toolRun",
  schema: Type.String({ description: "Server and tool that the call ran." }),
  log: { name: "tool_run" },
  line: (value) => `tool ${value}`,
  fact: { label: "Tool", text: (value) => value, find: (value) => value },
  filter: { value: "TOOL", help: "calls of this tool" },
});
const turns = column({
  name: "turns",
  schema: Type.Integer(),
  filter: { value: "N", help: "calls of so many turns" },
});
const tools: Feature = { name: "tools", columns: [tool, turns] };
const features = [...FEATURES, tools];
const columns = columnsWith(columnsOf(features));

/** An admin API over a store with three calls: two of a tool, and one without. @param known the columns of the API */
async function planted(known = columns): Promise<FakeAdmin> {
  const store = sqliteStore(IN_MEMORY, () => NOW);
  await store.open();
  const records = ["github__search", "github__search\"}'", undefined].map((value, at) => {
    const call = callOf();
    if (value !== undefined) tool.set(call, value);
    turns.set(call, at === 0 ? 1 : 12);
    const record = recordOf({ id: `req_${at}`, startedAt: NOW - at });
    columns.addTo(record, call, []);
    return record;
  });
  await store.commit(commit({ batches: [batch(1, records)] }));
  const reports = new Reports(store.sql, store.sql, () => NOW);
  const admin = fakeAdmin("127.0.0.1", known);
  return Object.assign(admin, {
    books: Object.assign(admin.books, {
      calls: (filter: never) => reports.calls(filter),
      call: (id: string) => reports.call(id),
      summary: (filter: never) => reports.summary(filter),
    }),
  });
}

test("the log has it in both forms", async () => {
  const call = callOf();
  tool.set(call, "github__search");
  for (const [format, expected] of [
    ["json", '"tool_run":"github__search"'],
    ["pretty", "tool github__search"],
  ] as const) {
    let text = "";
    const log = createLogger({ format, level: "info", columns, write: (piece) => void (text += piece) });
    log.call(call);
    await log.flush();
    expect(text).toContain(expected);
  }
});

test("GET /calls/{id} and weir logs --call have it and its fact, and the console links to its filter", async () => {
  const { body } = await (await planted()).send("GET", "/admin/v1/calls/req_0");
  expect(body).toMatchObject({
    toolRun: "github__search",
    facts: [{ name: "toolRun", label: "Tool", text: "github__search", find: "github__search" }],
  });
  expect(describeCall(body as CallEntry)).toMatch(/^tool +github__search$/m);
  expect(apiFilter({ fact: "toolRun:a:b" })).toEqual({ toolRun: "a:b" });
});

test("GET /calls, its summary and weir logs filter by it, exactly", async () => {
  const admin = await planted();
  const found = async (query: string) => {
    const { body } = await admin.send("GET", `/admin/v1/calls?${query}`);
    const { body: sums } = await admin.send("GET", `/admin/v1/calls/summary?${query}`);
    expect((sums as { calls: number }).calls).toBe((body as Calls).calls.length);
    return (body as Calls).calls.map(({ id }) => id);
  };
  expect(await found("toolRun=github__search")).toEqual(["req_0"]);
  expect(await found(`toolRun=${encodeURIComponent("github__search\"}'")}`)).toEqual(["req_1"]);
  expect(await found("toolRun=github")).toEqual([]);
  expect(await found("turns=1")).toEqual(["req_0"]);
  expect(await found("turns=12&toolRun=github__search")).toEqual([]);
  expect((await admin.send("GET", "/admin/v1/calls?turns=x")).status).toBe(400);
  const logs = commandsWith(features).find(({ name }) => name === "logs");
  const flags = logs?.flags.map(({ name }) => name);
  expect(flags).toContain("--tool-run");
});

test("both CSV files have it as a column, also where no call has a value", async () => {
  const { body } = await (await planted()).send("GET", "/admin/v1/calls?facts=true");
  const page = body as Calls;
  const [head, ...lines] = callsCsv(page).split("\n");
  expect(head).toEndWith(",toolRun");
  expect(lines.map((line) => line.includes("github__search"))).toEqual([false, true, true]);
  expect(csvOf(page.calls, page.columns).split("\r\n")[0]).toEndWith(",toolRun");
});

test("OpenAPI describes the member, the parameter and the facts", () => {
  const { paths, components } = openApiDocument(listOperations("0", columns), "0");
  const text = JSON.stringify([paths["/admin/v1/calls"], components.schemas]);
  expect(text).toContain('"name":"toolRun","in":"query"');
  expect(text).toContain('"toolRun":{"description":"Server and tool that the call ran.","type":"string"}');
});

test("a build without the feature still answers with the member, and shows no line of it", async () => {
  const { body } = await (await planted(columnsWith([]))).send("GET", "/admin/v1/calls/req_0");
  expect(body).toMatchObject({ toolRun: "github__search", turns: 1, facts: [] });
});
