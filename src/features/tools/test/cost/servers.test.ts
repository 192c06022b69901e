/** Tools of a server that weir runs for a model: what they cost, the list that the diet proposes, and what that list changes. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type RunningBooks, readStore, startBooks } from "../../../../../test/books/running.ts";
import { openaiClient } from "../../../../../test/helpers/sdk.ts";
import { until } from "../../../../../test/helpers/upstream.ts";
import { sumOf } from "../../cost/attribute.ts";
import type { ToolCostReport } from "../../cost/contracts.ts";
import type { Diet } from "../../cost/diet.ts";
import { type Model, startModel } from "../loop/model.ts";
import { type FakeServer, definition, fakeServer, text } from "../support/servers.ts";

setDefaultTimeout(240_000);

/** Its name at `/mcp` is shortened. */
const LONG = `list_everything_that_the_server_knows_of_${"x".repeat(40)}`;
const own = {
  name: "ask_user",
  description: "Asks the user.",
  parameters: { type: "object", properties: {} },
};

let weir: RunningBooks;
let model: Model;
let files: FakeServer;

const configOf = (only?: readonly string[]) => ({
  providers: model.providers,
  prices: { "messages/*": { input: 3.0017, output: 15.07, request: 0.0000013 } },
  tools: {
    ...{ cost: true, pin: "off", prices: { "*": 0.0021 } },
    servers: { files: { url: files.url, allow: ["*"], ...(only && { only }) } },
  },
});

async function ask(url: string): Promise<void> {
  const answer = await openaiClient(url).chat.completions.create(
    {
      model: "messages/m",
      messages: [{ role: "user", content: "Read it." }],
      tools: [{ type: "function", function: own }],
    },
    { headers: { "x-weir-tools": "files" } },
  );
  expect(answer.choices[0]?.message.content).toBe("Done.");
}

beforeAll(async () => {
  files = fakeServer("modern", {
    read: () => text("word ".repeat(40)),
    fail: () => ({ ...text("no"), isError: true }),
    write: () => text("written"),
    [LONG]: () => text("all"),
  });
  files.tools = ["read", "fail", "write", LONG].map((name) =>
    definition(name, { description: "About it. ".repeat(20) }),
  );
  model = startModel(({ results, tools }) => {
    const wanted = ["files__read", "files__fail", "files__list_"][results.length];
    const name = tools.find((one) => wanted !== undefined && one.startsWith(wanted));
    return name === undefined ? { text: "Done." } : { calls: [{ name }] };
  });
  weir = await startBooks({ workers: 1, config: configOf() });
  await ask(weir.url);
  const records = () => readStore(weir.state, (one) => one("SELECT count(*) AS value FROM calls"));
  // The client's call, four turns of the model and three tools.
  await until(
    () => records() >= 8,
    30_000,
    () => `${records()} calls are stored`,
  );
});

afterAll(async () => {
  await weir?.end();
  model?.stop();
  files?.stop();
});

test("definitions and results in each turn, calls, errors and prices of the tools", () => {
  const report = JSON.parse(weir.run("tools", "cost", "--json").output) as ToolCostReport;
  const of = (name: string) => report.tools.find(({ tool }) => tool.startsWith(name))!;
  const price = 2_100_000;
  expect(of("files__read")).toMatchObject({ server: "files", carried: 4, uses: 1, errors: 0, ran: price });
  expect(of("files__fail")).toMatchObject({ server: "files", carried: 4, uses: 1, errors: 1, ran: price });
  expect(of("files__list_")).toMatchObject({ server: "files", carried: 4, uses: 1, ran: price });
  expect(of("files__write")).toMatchObject({ carried: 4, uses: 0, ran: 0, isUsed: false });
  expect(of("ask_user")).toMatchObject({ carried: 4, uses: 0, isUsed: false });
  expect([report.calls, report.tools.length]).toEqual([4, 5]);
  const sum = (sql: string) => readStore(weir.state, (one) => one(sql));
  const rows = report.tools.reduce((total, one) => total + one.cost, 0);
  const charged = sum("SELECT sum(cost) AS value FROM calls");
  expect([rows + sumOf(report.rest.cost) + report.rest.other, report.cost]).toEqual([charged, charged]);
  expect(report.tokens).toBe(4 * 10);
});

test("with the list that the diet proposes, requests differ in nothing but the declarations", async () => {
  const diet = JSON.parse(weir.run("tools", "diet", "--json").output) as Diet;
  expect(diet.clients.map(({ tool }) => tool)).toEqual(["ask_user"]);
  expect(diet.servers).toMatchObject([
    { server: "files", only: ["fail", LONG, "read"], unused: [{ tool: "files__write", carried: 4 }] },
  ]);
  const before = model.heard.splice(0);
  const narrow = await startBooks({ workers: 1, config: configOf(diet.servers[0]!.only) });
  try {
    await ask(narrow.url);
  } finally {
    await narrow.end();
  }
  const without = (body: object, name?: string) => {
    const { tools, ...rest } = body as { tools: { name: string }[] };
    return JSON.stringify({ ...rest, tools: tools.filter((tool) => tool.name !== name) });
  };
  expect(model.heard).toHaveLength(before.length);
  for (const [index, { body }] of before.entries()) {
    expect(JSON.stringify(body)).toContain("files__write");
    const ids = (written: string) => written.replaceAll(/toolu_\d+_/g, "toolu_");
    expect(ids(without(model.heard[index]!.body))).toBe(ids(without(body, "files__write")));
  }
});
