/** `weir tools cost` over sockets: a provider with a prompt cache, clients with tools, and the ledger of a gateway. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type RunningBooks, readStore, startBooks } from "../../../../../test/books/running.ts";
import { json, startUpstream, until, type Upstream } from "../../../../../test/helpers/upstream.ts";
import { sumOf } from "../../cost/attribute.ts";
import type { ToolCostReport } from "../../cost/contracts.ts";

setDefaultTimeout(120_000);

let weir: RunningBooks;
let upstream: Upstream;

beforeAll(async () => {
  upstream = startUpstream(({ body }) => {
    const { messages } = JSON.parse(body.toString()) as { messages: { content: unknown }[] };
    const isFirst = messages.length === 1;
    return json({
      ...{ id: "msg_1", type: "message", role: "assistant", model: "big" },
      stop_reason: isFirst ? "tool_use" : "end_turn",
      content: isFirst
        ? [{ type: "tool_use", id: "toolu_1", name: "look", input: { at: "x" } }]
        : [{ type: "text", text: "Yes." }],
      usage: isFirst
        ? { input_tokens: 7, cache_creation_input_tokens: 993, cache_read_input_tokens: 0, output_tokens: 11 }
        : {
            input_tokens: 13,
            cache_creation_input_tokens: 401,
            cache_read_input_tokens: 993,
            output_tokens: 3,
          },
    });
  });
  weir = await startBooks({
    workers: 1,
    config: {
      providers: { host: { baseUrl: upstream.url, speaks: "messages", models: ["big"] } },
      prices: { "host/*": { input: 3.01, output: 15.07, cacheRead: 0.3003, cacheWrite: 3.7501 } },
      tools: { cost: true },
    },
  });
});

afterAll(async () => {
  await weir?.end();
  upstream?.stop();
});

const tool = (name: string) => ({
  name,
  description: `Does ${name}. `.repeat(30),
  input_schema: { type: "object", properties: { at: { type: "string" } } },
});

async function ask(messages: object[]): Promise<void> {
  const response = await fetch(`${weir.url}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      model: "host/big",
      max_tokens: 10,
      tools: [tool("look"), tool("spare")],
      messages,
    }),
  });
  expect(response.status).toBe(200);
  await response.text();
}

const stored = (calls: number) =>
  until(
    () => readStore(weir.state, (one) => one("SELECT count(*) AS value FROM calls")) >= calls,
    20_000,
    () => `the store has not ${calls} calls`,
  );

const report = () => JSON.parse(weir.run("tools", "cost", "--json").output) as ToolCostReport;

test("definitions, results and uses of each tool, with sums equal to the ledger", async () => {
  const question = { role: "user", content: "Look." };
  await ask([question]);
  await ask([
    question,
    { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "look", input: { at: "x" } }] },
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "found ".repeat(200) }],
    },
  ]);
  await stored(2);
  const found = report();
  expect(found).toMatchObject({ calls: 2, tokens: 1000 + 1407, unknown: 0, unread: 0 });
  const [look, spare] = ["look", "spare"].map((name) => found.tools.find(({ tool }) => tool === name)!);
  expect(look).toMatchObject({ carried: 2, uses: 1, errors: 0, isUsed: true });
  expect(spare).toMatchObject({
    carried: 2,
    uses: 0,
    isUsed: false,
    result: { uncached: 0, write: 0, read: 0 },
  });
  expect(sumOf(look!.result)).toBeGreaterThan(200);
  const cost = readStore(weir.state, (one) => one("SELECT sum(cost) AS value FROM calls"));
  const { rest } = found;
  const rows = found.tools.reduce((sum, one) => sum + one.cost, 0) + sumOf(rest.cost) + rest.other;
  expect([rows, found.cost]).toEqual([cost, cost]);
  const tokens = found.tools.reduce((sum, one) => sum + sumOf(one.definition) + sumOf(one.result), 0);
  expect(tokens + sumOf(rest.tokens)).toBe(found.tokens);
});

test("people get a table with the rest and the total", () => {
  const { code, output } = weir.run("tools", "cost");
  expect(code).toBe(0);
  expect(output).toMatch(/^TOOL +CALLS +DEFINITION/m);
  expect(output).toMatch(/^look +2 .* 1 +\$/m);
  expect(output).toMatch(/^total +2 /m);
});

test("the diet names the tool that no call used, and not the other", () => {
  const { code, output } = weir.run("tools", "diet");
  expect(code).toBe(0);
  expect(output).toMatch(/never used in 2 calls since \d{4}-\d\d-\d\d; their definitions cost \$0\.\d+/);
  expect(output).toMatch(/^ +spare +2 +\d+ +\$/m);
  expect(output).not.toContain("look");
});
