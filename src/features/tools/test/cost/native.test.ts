/** Answers that weir passes on as they come: what counts as a call of a tool, and what does not. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type RunningBooks, readStore, startBooks } from "../../../../../test/books/running.ts";
import { json, sse, startUpstream, until, type Upstream } from "../../../../../test/helpers/upstream.ts";
import type { CallEntry } from "../../../../operator/index.ts";
import type { ToolCostReport } from "../../cost/contracts.ts";
import { SDKS } from "./sdks.ts";

setDefaultTimeout(240_000);

const FIXTURES = join(import.meta.dir, "../../../../../test/fixtures");
const fixture = (path: string) => readFileSync(join(FIXTURES, path), "utf8");

let gemini: Upstream;
let messages: Upstream;
let weir: RunningBooks;
let sent = 0;

beforeAll(async () => {
  gemini = startUpstream(({ path }) =>
    path.includes("stream")
      ? sse([fixture("streams/gemini/calls.sse")])
      : json(JSON.parse(fixture("answers/gemini/parallel-calls.json"))),
  );
  messages = startUpstream({ status: 500, body: "{}" });
  weir = await startBooks({
    workers: 1,
    config: {
      providers: {
        google: { speaks: "gemini", baseUrl: gemini.url, apiKey: "AIza-0123456789", models: ["g"] },
        host: { speaks: "messages", baseUrl: messages.url, models: ["big"] },
      },
      prices: { "*": { input: 1, output: 2 } },
      tools: { cost: true },
    },
  });
});

afterAll(async () => {
  await weir?.end();
  gemini?.stop();
  messages?.stop();
});

/** The newest report and record, when the books have all calls so far. */
async function stored(): Promise<{ report: ToolCostReport; call: CallEntry }> {
  sent++;
  const calls = () => readStore(weir.state, (one) => one("SELECT count(*) AS value FROM calls"));
  await until(
    () => calls() >= sent,
    30_000,
    () => `${calls()} calls are stored`,
  );
  const report = await weir.api.send<ToolCostReport>("GET", "/tools/costs");
  const { calls: found } = await weir.api.send<{ calls: CallEntry[] }>("GET", "/calls");
  return { report, call: found[0]! };
}

const usesOf = ({ tools }: ToolCostReport, prefix: string) =>
  Object.fromEntries(
    tools.filter(({ tool }) => tool.startsWith(prefix)).map(({ tool, uses }) => [tool, uses]),
  );

test("Gemini, plain, as events and as an array", async () => {
  const tools = ["weather", "clock", "spare"];
  const asked = { url: weir.url, model: "google/g", tools, steps: [] };
  expect(await SDKS["gemini"]!({ ...asked, stream: false })).toHaveLength(3);
  let { report, call } = await stored();
  expect(call.lane).toBe("native");
  expect(usesOf(report, "")).toEqual({ weather: 2, clock: 1, spare: 0 });
  expect(await SDKS["gemini"]!({ ...asked, stream: true })).toHaveLength(2);
  ({ report, call } = await stored());
  expect([call.lane, usesOf(report, "")]).toEqual(["native", { weather: 4, clock: 1, spare: 0 }]);
  const declarations = [{ functionDeclarations: tools.map((name) => ({ name, description: "It." })) }];
  const array = await fetch(`${weir.url}/v1beta/models/google/g:streamGenerateContent`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ contents: [{ role: "user", parts: [{ text: "Hi" }] }], tools: declarations }),
  });
  expect(Array.isArray(await array.json())).toBe(true);
  ({ report } = await stored());
  expect(usesOf(report, "")).toEqual({ weather: 6, clock: 1, spare: 0 });
});

const event = (type: string, members: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
const start = event("message_start", {
  message: {
    ...{ id: "msg_1", type: "message", role: "assistant", model: "big", content: [], stop_reason: null },
    usage: { input_tokens: 900, output_tokens: 1 },
  },
});

async function streamed(tools: readonly string[], signal?: AbortSignal): Promise<Response> {
  return fetch(`${weir.url}/v1/messages`, {
    ...{ method: "POST", headers: { "content-type": "application/json" }, ...(signal && { signal }) },
    body: JSON.stringify({
      ...{ model: "host/big", max_tokens: 10, stream: true, messages: [{ role: "user", content: "Go." }] },
      tools: tools.map((name) => ({ name, description: "It.", input_schema: { type: "object" } })),
    }),
  });
}

test("a text that is the name of a tool is no call of it", async () => {
  messages.answer(() =>
    sse([
      start,
      event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
      event("content_block_delta", { index: 0, delta: { type: "text_delta", text: "said_only" } }),
      event("content_block_stop", { index: 0 }),
      event("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } }),
      event("message_stop", {}),
    ]),
  );
  expect(await (await streamed(["said_only"])).text()).toContain("message_stop");
  const { report, call } = await stored();
  expect(call.lane).toBe("native");
  expect(report.tools.find(({ tool }) => tool === "said_only")).toMatchObject({ uses: 0, isUsed: false });
});

test("a call counts although the client leaves before the end of the answer", async () => {
  const block = { type: "tool_use", id: "toolu_1", name: "left_at", input: {} };
  messages.answer(() =>
    sse([start, event("content_block_start", { index: 0, content_block: block }), { wait: 20_000 }]),
  );
  const leaving = new AbortController();
  const response = await streamed(["left_at", "left_spare"], leaving.signal);
  const reader = response.body!.getReader();
  let seen = "";
  while (!seen.includes("left_at")) seen += new TextDecoder().decode((await reader.read()).value);
  leaving.abort();
  const { report, call } = await stored();
  expect(call).toMatchObject({ outcome: "cancelled", lane: "native" });
  expect(usesOf(report, "left_")).toEqual({ left_at: 1, left_spare: 0 });
  expect(report.unread).toBe(0);
});

test("without the option nothing is noted", async () => {
  const off = await startBooks({
    workers: 1,
    config: {
      providers: {
        google: { speaks: "gemini", baseUrl: gemini.url, apiKey: "AIza-0123456789", models: ["g"] },
      },
    },
  });
  try {
    await SDKS["gemini"]!({ url: off.url, model: "google/g", tools: ["weather"], steps: [], stream: false });
    const calls = () => readStore(off.state, (one) => one("SELECT count(*) AS value FROM calls"));
    await until(
      () => calls() === 1,
      30_000,
      () => `${calls()} calls are stored`,
    );
    const { calls: found } = await off.api.send<{ calls: CallEntry[] }>("GET", "/calls");
    expect(found).toHaveLength(1);
    expect(found[0]).not.toHaveProperty("toolUse");
    expect(off.run("tools", "cost").output).toMatch(
      /no call with tools since .* \(tools\.cost in weir\.yaml/,
    );
  } finally {
    await off.end();
  }
});
