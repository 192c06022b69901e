/** Values that are no strings: numbers among arguments and results of tools, files in base64, and texts that may not change. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { JsonObject } from "../../../core/json.ts";
import { type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import { eventsIn, joined } from "../../../../test/helpers/guarded.ts";
import { streamedText } from "../../../../test/helpers/streamed.ts";
import { json, sse, startUpstream, type Upstream } from "../../../../test/helpers/upstream.ts";

setDefaultTimeout(60_000);

const CARD = "4111111111111111";
const ARGS = `{"card":${CARD},"list":[${CARD}],"said":"no: ${CARD}, \\"x\\"","n":1234567}`;
const messagesAnswer = (content: readonly JsonObject[]): JsonObject => ({
  ...{ id: "msg_1", type: "message", role: "assistant", model: "m", content: [...content] },
  ...{ stop_reason: "end_turn", stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } },
});
const CALL = { id: "t", type: "function", function: { name: "f", arguments: ARGS } };
const chunk = (delta: JsonObject, finish: string | null = null) =>
  `data: ${JSON.stringify({
    ...{ id: "c", object: "chat.completion.chunk", created: 1, model: "m" },
    choices: [{ index: 0, delta, finish_reason: finish }],
  })}\n\n`;
const STREAM = [
  chunk({ tool_calls: [{ index: 0, ...CALL, function: { name: "f", arguments: "" } }] }),
  ...ARGS.match(/[^]{1,3}/g)!.map((piece) =>
    chunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] }),
  ),
  chunk({}, "tool_calls"),
  "data: [DONE]\n\n",
];

let upstream: Upstream;
let gateway: RunningGateway;

beforeAll(async () => {
  upstream = startUpstream(json({}));
  const provider = (speaks: string, path: string) => ({
    ...{ speaks, baseUrl: `${upstream.url}${path}`, models: ["m"] },
  });
  gateway = await startGateway({
    config: {
      providers: { messages: provider("messages", ""), chat: provider("chat-completions", "/v1") },
      guards: { pii: { find: ["email", "card"], do: "replace" } },
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

function post(path: string, body: string): Promise<Response> {
  const headers = { "content-type": "application/json", "anthropic-version": "2023-06-01" };
  return fetch(gateway.url + path, { method: "POST", headers, body });
}

/** @returns the verdicts, and what the provider got */
async function sent(messages: string): Promise<{ guards: string | null; got: string }> {
  upstream.answer(() => json(messagesAnswer([{ type: "text", text: "ok" }])));
  const response = await post("/v1/messages", `{"model":"messages/m","max_tokens":9,"messages":${messages}}`);
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("ok")]);
  return {
    guards: response.headers.get("x-weir-guards"),
    got: upstream.requests.at(-1)!.body.toString(),
  };
}

const turns = (input: string) =>
  `[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":${input}}]},
   {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}]`;

test.each([CARD, `${CARD}.0`, "4.111111111111111e15", "6304000000000000000"])(
  "the number %p among the arguments of a call goes as a token",
  async (number) => {
    const { guards, got } = await sent(turns(`{"card": ${number}, "small": 41}`));
    expect(guards).toBe("pii=replaced:1");
    expect(got).toMatch(/\{"card": "PII_CARD_[a-z2-7]{8}", "small": 41\}/);
  },
);

test("a number that is no value stays as it is written", async () => {
  const { guards, got } = await sent(turns('{"at": 1795376321.50, "big": 12345678901234567890}'));
  expect(guards).toBe("pii=passed");
  expect(got).toContain('{"at": 1795376321.50, "big": 12345678901234567890}');
});

test("numbers within arguments that are a text go as tokens", async () => {
  upstream.answer(() => json({ ...messagesAnswer([]), choices: [] }));
  const call = { ...CALL, function: { name: "f", arguments: `{"card":${CARD}}` } };
  const messages = [
    { role: "user", content: "x" },
    { role: "assistant", content: null, tool_calls: [call] },
  ];
  await post("/v1/chat/completions", JSON.stringify({ model: "chat/m", messages }));
  const got = JSON.parse(upstream.requests.at(-1)!.body.toString());
  expect(got.messages[1].tool_calls[0].function.arguments).toMatch(/^\{"card":"PII_CARD_[a-z2-7]{8}"\}$/);
});

describe("numbers in arguments that a model writes go as tokens, and arguments stay JSON", () => {
  const ask = (model: string, stream: boolean) =>
    post(
      "/v1/chat/completions",
      JSON.stringify({ ...{ model, stream }, messages: [{ role: "user", content: "x" }] }),
    );
  const expectGuarded = (args: string) => {
    const { card, list, said, n } = JSON.parse(args) as Record<string, unknown>;
    const token = /^PII_CARD_[a-z2-7]{8}$/;
    expect(card).toMatch(token);
    expect([list, said, n]).toEqual([[card], `no: ${String(card)}, "x"`, 1234567]);
  };

  test("native", async () => {
    const message = { role: "assistant", content: null, tool_calls: [CALL] };
    upstream.answer(() =>
      json({
        ...{ id: "c", object: "chat.completion", created: 1, model: "m" },
        choices: [{ index: 0, finish_reason: "tool_calls", message }],
      }),
    );
    const answer = (await (await ask("chat/m", false)).json()) as JsonObject;
    expectGuarded(joined([answer], "choices.*.message.tool_calls.*.function.arguments"));
  });

  test("streamed", async () => {
    upstream.answer(() => sse(STREAM));
    const text = await streamedText(await ask("chat/m", true));
    expect(text).not.toContain(CARD);
    expectGuarded(joined(eventsIn(text), "choices.*.delta.tool_calls.*.function.arguments"));
  });

  test("translated", async () => {
    const content = [{ type: "tool_use", id: "t", name: "f", input: JSON.parse(ARGS) }];
    upstream.answer(() => json(messagesAnswer(content)));
    const answer = (await (await ask("messages/m", false)).json()) as JsonObject;
    expectGuarded(joined([answer], "choices.*.message.tool_calls.*.function.arguments"));
  });
});

const file = (data: string) =>
  JSON.stringify([
    {
      role: "user",
      content: [{ type: "document", source: { type: "base64", media_type: "text/csv", data } }],
    },
  ]);

test("a text file in base64 is read, and changes", async () => {
  const { guards, got } = await sent(
    file(Buffer.from("name;mail\nAnna;anna@example.com\n").toString("base64")),
  );
  expect(guards).toBe("pii=replaced:1");
  const [, data] = /"data":"([^"]+)"/.exec(got)!;
  expect(Buffer.from(data!, "base64").toString()).toMatch(/^name;mail\nAnna;PII_EMAIL_[a-z2-7]{8}\n$/);
});

test("a file that is no text stays, and the record says that it was not read", async () => {
  const data = Buffer.from("\x89PNG\r\n\x1a\n\0\0 anna@example.com", "latin1").toString("base64");
  const { guards, got } = await sent(file(data));
  expect(guards).toBe("pii=passed, uninspected=media:1");
  expect(got).toContain(data);
});

test("a value in a text that its vendor has signed stays, and does not count as replaced", async () => {
  const thinking = { type: "thinking", thinking: "anna@example.com", signature: "c2ln" };
  const messages = [
    ...[
      { role: "user", content: "x" },
      { role: "assistant", content: [thinking] },
    ],
    { role: "user", content: "go on" },
  ];
  const { guards, got } = await sent(JSON.stringify(messages));
  expect(guards).toContain("pii=flagged:1");
  expect(got).toContain(JSON.stringify(thinking));
});
