/** `call.askStream`: a plugin reads the answer of another model as it comes, turn by turn. */
import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunningGateway } from "../helpers/gateway.ts";
import { ask, chunk, makeStage, places } from "../helpers/places.ts";
import { sse, stalled, until } from "../helpers/upstream.ts";

const { upstream, gateway } = makeStage();
const state = await mkdtemp(join(tmpdir(), "weir-ask-"));
afterAll(() => rm(state, { recursive: true, force: true }));

/** A plugin that answers each call of a client with the events of a generator. */
const looping = (body: string) => ({
  "looping.js": `import { definePlugin, NO_USAGE } from "weir";
const say = async function* (text) {
  yield { type: "block-start", index: 0, block: { type: "text" } };
  yield { type: "block-delta", index: 0, delta: text };
  yield { type: "block-end", index: 0 };
};
async function* answer(call) {
  yield { type: "message-start", id: "m", model: "m" };
  ${body}
  yield { type: "message-end", reason: { kind: "stop" }, usage: { ...NO_USAGE, known: "final" } };
}
export default definePlugin({ name: "looping", hooks: { intercept: (call) => ({ answer: answer(call) }) } });`,
});

type Line = Record<string, unknown>;

/** The lines of child calls in the log, once there are so many. */
async function children({ log }: RunningGateway, count: number): Promise<Line[]> {
  const lines = () => log.flatMap((text) => (text.includes('"parent"') ? [JSON.parse(text) as Line] : []));
  const missing = () => `the log has ${lines().length} of ${count} children`;
  await until(() => lines().length >= count, 10_000, missing);
  return lines();
}

const content = (text: string) => /"content":"((?:[^"\\]|\\.)*)"/.exec(text)?.[1] ?? text;

test("passes tool calls on as events, and a further turn with their results", async () => {
  const plugins = looping(`
    const tools = [{ kind: "function", name: "look", parameters: { type: "object", properties: {} } }];
    const turns = [{ role: "user", blocks: [{ type: "text", text: "go" }] }];
    const seen = [];
    for await (const event of call.askStream({ model: "mock/tools", turns, tools }))
      seen.push(event.type === "block-start" ? event.block.type + " " + event.block.name : event.type);
    for await (const event of call.askStream({ model: "mock/chat", prompt: "and now" }))
      if (event.type === "message-end") seen.push(event.reason.kind);
    yield* say(seen.join());`);
  const running = await gateway({}, { plugins });
  const { status, text } = await ask(running, { body: { model: "mock/chat" } });
  expect(status).toBe(200);
  expect(content(text)).toMatch(/^message-start,.*tool-call look,.*block-end,message-end,stop$/);
  const asked = await children(running, 2);
  expect(asked.map(({ outcome, stream, format }) => [outcome, stream, format])).toEqual([
    ["complete", true, "call.ask"],
    ["complete", true, "call.ask"],
  ]);
});

test("gives events while the provider still sends, and leaving the loop ends the call", async () => {
  const provider = upstream(stalled([chunk({ role: "assistant", content: "first" })]));
  const plugins = looping(`
    for await (const event of call.askStream({ model: "openai/m", prompt: "hi" }))
      if (event.type === "block-delta") { yield* say(event.delta); break; }`);
  const running = await gateway({ providers: places([provider.url]) }, { plugins });
  const { text } = await ask(running, { body: { model: "mock/chat" } });
  expect(content(text)).toBe("first");
  await provider.quiet(10_000);
  expect((await children(running, 1))[0]).toMatchObject({ outcome: "cancelled" });
});

test("an answer that breaks off is an error behind its events", async () => {
  const provider = upstream(sse([chunk({ role: "assistant", content: "half" })]));
  const plugins = looping(`
    let seen = "";
    try {
      for await (const event of call.askStream({ model: "openai/m", prompt: "hi" })) seen += event.delta ?? "";
    } catch (error) { seen += " " + error.kind + " " + error.code; }
    yield* say(seen);`);
  const running = await gateway({ providers: places([provider.url]) }, { plugins });
  const { text } = await ask(running, { body: { model: "mock/chat" } });
  expect(content(text)).toBe("half upstream stream_incomplete");
  expect((await children(running, 1))[0]).toMatchObject({ outcome: "failed" });
});

test("each turn has its own hold: a hard budget for two turns refuses the third", async () => {
  const plugins = looping(`
    let turns = 0;
    try {
      for (;;) {
        for await (const event of call.askStream({ model: "mock/chat", prompt: "again", maxTokens: 5 }))
          if (event.type === "message-end") turns++;
        if (turns > 5) break;
      }
    } catch (error) { yield* say(turns + " " + error.code); }`);
  const config = {
    state,
    prices: { "mock/*": { input: 0, output: 0, request: 1 } },
    budgets: { turns: { on: { model: "mock/*" }, limit: 2, every: "total", mode: "hard" } },
  };
  const running = await gateway(config, { plugins });
  const { text } = await ask(running, { body: { model: "painter" } });
  expect(content(text)).toBe("2 budget_exhausted");
  expect((await children(running, 3)).map(({ outcome }) => outcome)).toEqual([
    "complete",
    "complete",
    "failed",
  ]);
});
