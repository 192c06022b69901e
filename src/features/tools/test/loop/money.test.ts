/** Budgets hold turn by turn, and the counts of an answer are those of its turns. */
import { expect, test } from "bun:test";
import { openaiClient } from "../../../../../test/helpers/sdk.ts";
import { FakeBench, text } from "./bench.ts";
import type { Heard, Said } from "./model.ts";
import { linesOf, makeStage, type Stage } from "./stage.ts";

const stage = makeStage();

const again = ({ count }: Heard): Said => ({
  text: `turn ${count}`,
  calls: [{ name: "shop__find", input: { word: String(count) } }],
});

const config = (limit: number) => ({
  prices: { "chat-completions/*": { input: 0, output: 0, request: 1 } },
  budgets: { turns: { on: { model: "*" }, limit, every: "total", mode: "hard" } },
});

const asked = {
  model: "chat-completions/m",
  messages: [{ role: "user", content: "Is there tea?" }],
  tools: [{ type: "mcp", server_label: "shop", server_url: "weir/shop" }],
};

const ask = ({ gateway }: Stage, stream: boolean) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...asked, stream }),
  });

/** The connection of a stream is closed some seconds behind an error. */
async function readUntilError({ body }: Response): Promise<string> {
  let read = "";
  for await (const piece of body!.pipeThrough(new TextDecoderStream())) {
    read += piece;
    if (read.includes('"error"')) break;
  }
  return read;
}

test("a hard budget for two turns refuses the third", async () => {
  const on = await stage(again, { config: config(2), stores: true });
  await on.gateway.opened();
  const answer = await ask(on, false);
  expect([answer.status, answer.headers.get("x-should-retry")]).toEqual([429, "false"]);
  expect(await answer.json()).toMatchObject({ error: { code: "insufficient_quota" } });
  expect([on.model.heard.length, on.bench.calls.length]).toEqual([2, 2]);
  const lines = await linesOf(on, answer.headers.get("x-request-id")!);
  const costs = lines.map(({ format, cost }) => [format, cost ?? 0]);
  expect(costs.filter(([format]) => format === "call.ask").length).toBe(3);
  expect(costs.reduce((sum, [, cost]) => sum + Number(cost), 0)).toBeLessThanOrEqual(2);
  // What is left does not pay another turn.
  expect((await ask(on, false)).status).toBe(429);
});

test("in a stream the refusal follows what the turns before have said", async () => {
  const on = await stage(again, { config: config(2), stores: true });
  await on.gateway.opened();
  const answer = await readUntilError(await ask(on, true));
  expect(answer).toContain("turn 0");
  expect(answer).toContain("turn 1");
  expect(answer).toContain("insufficient_quota");
  expect(answer).not.toContain("[DONE]");
  expect(on.model.heard.length).toBe(2);
});

test("a budget that does not pay the first turn refuses the call", async () => {
  const on = await stage(again, { config: config(0.5), stores: true });
  await on.gateway.opened();
  expect((await ask(on, true)).status).toBe(429);
  expect(on.model.heard.length).toBe(0);
});

test("a budget that does not pay a tool ends the answer, and the tool does not run", async () => {
  const bench = new FakeBench({ shop__find: () => text("tea") });
  bench.price = 1;
  const on = await stage(again, {
    bench,
    config: {
      prices: { "chat-completions/*": { input: 0, output: 0 } },
      budgets: { tools: { on: { model: "*" }, limit: 1.5, every: "total", mode: "hard" } },
    },
    stores: true,
  });
  await on.gateway.opened();
  const answer = await ask(on, false);
  expect(answer.status).toBe(429);
  expect([bench.ran, on.model.heard.length]).toEqual([1, 2]);
});

test("a client that reads the counts of its answer reads those of the turns", async () => {
  const on = await stage((heard) => (heard.count < 3 ? again(heard) : { text: "done" }));
  const { data, response } = await openaiClient(on.gateway.url)
    .chat.completions.create(asked as never)
    .withResponse();
  const lines = await linesOf(on, response.headers.get("x-request-id")!);
  const tokens = lines.map((line) => (line["tokens"] ?? {}) as { input?: number; output?: number });
  const { usage } = data as { usage: { prompt_tokens: number; completion_tokens: number } };
  expect(tokens.reduce((sum, { input = 0 }) => sum + input, 0)).toBe(usage.prompt_tokens);
  expect(tokens.reduce((sum, { output = 0 }) => sum + output, 0)).toBe(usage.completion_tokens);
});
