/** Clients of four formats with providers of three, over sockets, native and translated: what is used, and what it costs. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type RunningBooks, readStore, startBooks } from "../../../../../test/books/running.ts";
import { until } from "../../../../../test/helpers/upstream.ts";
import { sumOf } from "../../cost/attribute.ts";
import type { ToolCost, ToolCostReport } from "../../cost/contracts.ts";
import type { Diet } from "../../cost/diet.ts";
import { type Model, MODEL_FORMATS, startModel } from "../loop/model.ts";
import { SDKS, type Step } from "./sdks.ts";

setDefaultTimeout(240_000);

let weir: RunningBooks;
let model: Model;

const KINDS = ["used", "failing", "final", "spare"] as const;
const RUNS = Object.keys(SDKS).flatMap((client) =>
  MODEL_FORMATS.flatMap((format) =>
    [false, true].map((stream) => ({ client, format, stream, tag: `${client}_${format}_${stream}` })),
  ),
);
const nameOf = (kind: (typeof KINDS)[number], tag: string) => `${kind}_${tag.replaceAll("-", "_")}`;

beforeAll(async () => {
  // The last tool ends the run: no request has its result.
  model = startModel(({ tools, results }) => {
    const kind = KINDS[results.length]!;
    return { calls: [{ name: tools.find((name) => name.startsWith(kind))!, input: { at: "x" } }] };
  });
  weir = await startBooks({
    workers: 2,
    config: {
      providers: model.providers,
      prices: { "*": { input: 3.0017, output: 15.07, request: 0.0000013 } },
      tools: { cost: true },
    },
  });
  for (const { client, format, stream, tag } of RUNS) {
    const tools = KINDS.map((kind) => nameOf(kind, tag));
    const steps: Step[] = [];
    for (let turn = 0; turn < 3; turn++) {
      const asked = { url: weir.url, model: `${format}/m`, stream, tools, steps };
      const [call] = await SDKS[client]!(asked);
      expect([tag, turn, call?.name]).toEqual([tag, turn, tools[turn]]);
      steps.push({ ...call!, result: "found ".repeat(200), isError: turn === 1 });
    }
  }
  const stored = () => readStore(weir.state, (one) => one("SELECT count(*) AS value FROM calls"));
  await until(
    () => stored() >= RUNS.length * 3,
    60_000,
    () => `${stored()} calls are stored`,
  );
});

afterAll(async () => {
  await weir?.end();
  model?.stop();
});

const report = () => JSON.parse(weir.run("tools", "cost", "--json").output) as ToolCostReport;

test("each tool has the calls of the answers, also where weir passes them on as they come", () => {
  const { tools, unknown, unread } = report();
  expect([unknown, unread, tools.length]).toEqual([0, 0, RUNS.length * KINDS.length]);
  const byName = new Map(tools.map((one) => [one.tool, one]));
  for (const { tag } of RUNS) {
    const [used, failing, final, spare] = KINDS.map((kind) => byName.get(nameOf(kind, tag))!) as [
      ...[ToolCost, ToolCost, ToolCost, ToolCost],
    ];
    expect([used, failing, final, spare].map(({ uses }) => uses)).toEqual([1, 1, 1, 0]);
    expect([used, failing, final, spare].map(({ carried }) => carried)).toEqual([3, 3, 3, 3]);
    expect([used, failing, final, spare].map(({ isUsed }) => isUsed)).toEqual([true, true, true, false]);
    expect(sumOf(used.result)).toBeGreaterThan(0);
    expect(sumOf(final.result)).toBe(0);
  }
});

test("results that failed are errors, in formats that say so", () => {
  const failed = report().tools.filter(({ errors }) => errors > 0);
  const expected = RUNS.filter(({ client }) => client === "messages").map(({ tag }) =>
    nameOf("failing", tag),
  );
  expect(failed.map(({ tool, errors }) => [tool, errors]).sort()).toEqual(
    expected.sort().map((tool) => [tool, 1]),
  );
});

test("the rows and the rest are what the books counted and charged", () => {
  const { tools, rest, tokens, cost } = report();
  const sum = (sql: string) => readStore(weir.state, (one) => one(sql));
  const rows = tools.reduce((total, one) => total + one.cost, 0) + sumOf(rest.cost) + rest.other;
  const charged = sum("SELECT sum(cost) AS value FROM calls");
  expect(charged).toBeGreaterThan(0);
  expect([rows, cost]).toEqual([charged, charged]);
  const counted = tools.reduce((total, one) => total + sumOf(one.definition) + sumOf(one.result), 0);
  const input = sum("SELECT sum(input + cache_read + cache_write) AS value FROM calls");
  expect([counted + sumOf(rest.tokens), tokens]).toEqual([input, input]);
});

test("the diet names all that no call used, and nothing else", () => {
  const diet = JSON.parse(weir.run("tools", "diet", "--json").output) as Diet;
  const spare = RUNS.map(({ tag }) => nameOf("spare", tag));
  expect(diet.clients.map(({ tool }) => tool).sort()).toEqual(spare.sort());
  expect(diet.servers).toEqual([]);
});
