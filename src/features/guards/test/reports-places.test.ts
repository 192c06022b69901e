/** Reports on other gateways about places where their guards do not look, each as a call that would show it here. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { JsonObject } from "../../../core/json.ts";
import { type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import { json, sse, startUpstream, type Upstream } from "../../../../test/helpers/upstream.ts";

setDefaultTimeout(60_000);

const EMAIL = "anna@example.com";
const TOKEN = /PII_EMAIL_[a-z2-7]{8}/;

let gateway: RunningGateway;
let upstream: Upstream;
/** What the provider answers; the token of the request stands for `TOKEN`. */
let answer: (token: string) => ReturnType<typeof json>;

const chunk = (delta: JsonObject, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: "a", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const whole = (message: JsonObject) =>
  json({
    ...{ id: "a", object: "chat.completion", created: 1, model: "m" },
    choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  });
/** Each piece comes with a read of its own. */
const streamed = (...pieces: readonly string[]) =>
  sse([...pieces, chunk({}, "stop"), "data: [DONE]\n\n"].flatMap((piece) => [piece, { wait: 5 }]));

beforeAll(async () => {
  upstream = startUpstream(({ body }) => answer(TOKEN.exec(body.toString())?.[0] ?? "none"));
  const models = ["m", "masked", "blocked"];
  gateway = await startGateway({
    config: {
      providers: {
        p: { speaks: "chat-completions", baseUrl: `${upstream.url}/v1`, apiKey: "k-1234567", models },
      },
      guards: {
        pii: { find: ["email", "card"], do: "replace", models: ["*/m"] },
        out: { find: ["email"], do: "mask", on: ["output"], models: ["*/masked"] },
        no: { find: ["email"], do: "block", models: ["*/blocked"] },
      },
      log: { format: "json" },
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

async function ask(path: string, body: JsonObject): Promise<{ status: number; text: string }> {
  const response = await fetch(gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

const user = (content: string | JsonObject[]) => ({ role: "user", content });
const CHAT = "/v1/chat/completions";
const sent = () => upstream.requests.at(-1)!.body.toString();

describe("requests", () => {
  const CALL = {
    id: "c",
    type: "function",
    function: { name: "send", arguments: JSON.stringify({ to: EMAIL }) },
  };
  const called = { role: "assistant", content: "", tool_calls: [CALL] };
  const REQUESTS: readonly (readonly [report: string, path: string, body: JsonObject])[] = [
    [
      "BerriAI/litellm#14612: results of tools",
      CHAT,
      { messages: [user("go"), called, { role: "tool", tool_call_id: "c", content: `for ${EMAIL}` }] },
    ],
    [
      "BerriAI/litellm#31950: arguments of earlier calls",
      CHAT,
      { messages: [user("go"), called, { role: "tool", tool_call_id: "c", content: "ok" }] },
    ],
    [
      "OmniRoute#8114: system as a list of blocks",
      "/v1/messages",
      {
        max_tokens: 9,
        system: [
          { type: "text", text: "a" },
          { type: "text", text: `is ${EMAIL}` },
        ],
        messages: [user("hi")],
      },
    ],
    ["OmniRoute#8114: strings in input", "/v1/responses", { input: `to ${EMAIL}` }],
    [
      "OmniRoute#8114: parts of the type input_text",
      "/v1/responses",
      { input: [user([{ type: "input_text", text: `to ${EMAIL}` }])] },
    ],
    [
      "OmniRoute#8114: the second of two equal parts",
      CHAT,
      {
        messages: [
          user([
            { type: "text", text: EMAIL },
            { type: "text", text: EMAIL },
          ]),
        ],
      },
    ],
    [
      "Instawork/llm-proxy#42: arguments and output of items",
      "/v1/responses",
      {
        input: [
          user("go"),
          { type: "function_call", call_id: "c", name: "send", arguments: JSON.stringify({ to: EMAIL }) },
          { type: "function_call_output", call_id: "c", output: `sent to ${EMAIL}` },
        ],
      },
    ],
  ];
  for (const [report, path, body] of REQUESTS)
    test(report, async () => {
      answer = () => whole({ content: "ok" });
      const { status, text } = await ask(path, { model: "p/m", ...body });
      expect([status, status === 200 || text]).toEqual([200, true]);
      expect(sent()).toMatch(TOKEN);
      expect(sent()).not.toContain(EMAIL);
    });

  test("Instawork/llm-proxy#42: functionCall.args and functionResponse.response", async () => {
    answer = () => whole({ content: "ok" });
    const contents = [
      { role: "user", parts: [{ text: "go" }] },
      { role: "model", parts: [{ functionCall: { name: "send", args: { to: EMAIL } } }] },
      { role: "user", parts: [{ functionResponse: { name: "send", response: { of: [EMAIL] } } }] },
    ];
    const { status } = await ask("/v1beta/models/p/m:generateContent", { contents });
    expect(status).toBe(200);
    expect(sent()).not.toContain(EMAIL);
  });

  test("Instawork/llm-proxy#42: a token with brackets would be escaped; these survive JSON within JSON", async () => {
    answer = (token) =>
      whole({
        content: "",
        tool_calls: [
          {
            id: "c",
            type: "function",
            function: {
              name: "f",
              arguments: JSON.stringify({ html: `<b>${token}</b>`, json: JSON.stringify({ token }) }),
            },
          },
        ],
      });
    const { text } = await ask(CHAT, { model: "p/m", messages: [user(EMAIL)] });
    expect(text).not.toMatch(TOKEN);
    expect(text).toContain(`<b>${EMAIL}</b>`);
  });
});

describe("answers", () => {
  test("BerriAI/litellm#31950: values come back in arguments of tools", async () => {
    answer = (token) =>
      whole({
        content: "",
        tool_calls: [
          { id: "c", type: "function", function: { name: "f", arguments: JSON.stringify({ to: token }) } },
        ],
      });
    const { text } = await ask(CHAT, { model: "p/m", messages: [user(EMAIL)] });
    expect(text).toContain(`{\\"to\\":\\"${EMAIL}\\"}`);
  });

  for (const stream of [true, false])
    test(`BerriAI/litellm#35257, #36085: /v1/messages, ${stream ? "streamed" : "whole"}`, async () => {
      answer = () =>
        stream ? streamed(chunk({ content: `to ${EMAIL} now` })) : whole({ content: `to ${EMAIL} now` });
      const { text } = await ask("/v1/messages", {
        model: "p/masked",
        stream,
        max_tokens: 9,
        messages: [user("hi")],
      });
      expect(text).toContain("[EMAIL]");
      expect(text).not.toContain(EMAIL);
    });

  test("mastra-ai/mastra#23783: a value in two chunks, whose first half must not go out", async () => {
    answer = () =>
      streamed(
        ...["to anna", "@exam", "ple.c", "om and", " bob@example.", "com"].map((content) =>
          chunk({ content }),
        ),
      );
    const { text } = await ask(CHAT, { model: "p/masked", stream: true, messages: [user("hi")] });
    const said = [...text.matchAll(/"content":"([^"]*)"/g)].map(([, piece]) => piece).join("");
    expect(said).toBe("to [EMAIL] and [EMAIL]");
  });

  test("mastra-ai/mastra#23783: findings that overlap delete no text", async () => {
    answer = () => whole({ content: "ok" });
    await ask(CHAT, {
      model: "p/m",
      messages: [user(`pay 4111 1111 1111 1111@example.com, 4111-1111-1111-1111 and ${EMAIL} end`)],
    });
    expect(sent()).toMatch(/pay [^"]* and PII_EMAIL_[a-z2-7]{8} end/);
    expect(sent()).not.toMatch(/1111/);
  });

  test("agentgateway#2956, api7/aisix#204: a stream is no way around a guard", async () => {
    answer = () =>
      streamed(chunk({ content: "well, " }), chunk({ content: EMAIL }), chunk({ content: " it is" }));
    const response = await fetch(gateway.url + CHAT, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "p/blocked", stream: true, messages: [user("hi")] }),
    });
    const text = await response.text().catch(() => "cut");
    expect(text).not.toContain(EMAIL);
    expect(text).not.toContain("[DONE]");
  });

  test("agentgateway#3603, #3477: a stream beside guards comes whole, after a silence too", async () => {
    answer = () =>
      sse([
        chunk({ content: "one PII_EM" }),
        { wait: 2_500 },
        chunk({ content: "AIL two" }),
        chunk({}, "stop"),
        "data: [DONE]\n\n",
      ]);
    const { text } = await ask(CHAT, { model: "p/m", stream: true, messages: [user(EMAIL)] });
    const said = [...text.matchAll(/"content":"([^"]*)"/g)].map(([, piece]) => piece).join("");
    expect(said).toBe("one PII_EMAIL two");
    expect(text).toContain("[DONE]");
  });
});
