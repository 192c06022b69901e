/** The endpoint of Bedrock that speaks the formats of OpenAI and Anthropic: each client reaches its own format, signed. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { type Bedrock, CLAUDE_MESSAGE, startBedrock } from "../helpers/bedrock.ts";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { anthropicClient, openaiClient } from "../helpers/sdk.ts";
import { json, sse } from "../helpers/upstream.ts";

const KEY_ID = "AKIDCANARY0123456789";
const SECRET = "secret-canary-0123456789abcdef";

let host: Bedrock;
let gateway: RunningGateway;

beforeAll(async () => {
  host = startBedrock({ secrets: { [KEY_ID]: SECRET } });
  gateway = await startGateway({
    env: {
      ...{ AWS_ACCESS_KEY_ID: KEY_ID, AWS_SECRET_ACCESS_KEY: SECRET },
      ...{ BEDROCK_MANTLE_REGION: "us-east-1", BEDROCK_MANTLE_BASE_URL: host.url },
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  host.stop();
});

beforeEach(() => {
  host.requests.length = 0;
});

const messages = [{ role: "user" as const, content: "hi" }];
const CLAUDE = "global.anthropic.claude-sonnet-5-5";

function expectSigned(path: string): void {
  const request = host.requests.at(-1)!;
  expect(request.path).toBe(path);
  expect(request.headers.get("authorization")).toContain("/us-east-1/bedrock-mantle/aws4_request");
  expect(host.faults).toEqual([]);
}

test("Claude's messages pass in their own format, with the header of beta features", async () => {
  host.handle(() => json(CLAUDE_MESSAGE));
  const client = anthropicClient(gateway.url, { headers: { "anthropic-beta": "context-1m-2025-08-07" } });
  const message = await client.messages.create({
    model: `bedrock-mantle/${CLAUDE}`,
    max_tokens: 9,
    messages,
  });
  expect(message.content).toMatchObject(CLAUDE_MESSAGE.content);
  expectSigned("/anthropic/v1/messages");
  const { headers, body } = host.requests[0]!;
  expect(headers.get("anthropic-beta")).toBe("context-1m-2025-08-07");
  expect(headers.has("anthropic-version")).toBe(true);
  expect(JSON.parse(body.toString())).toMatchObject({ model: CLAUDE, max_tokens: 9 });
});

test("chat-completions and responses pass in their own formats", async () => {
  const model = "bedrock-mantle/openai.gpt-oss-20b";
  const choice = { index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" };
  host.handle(() => json({ id: "c", object: "chat.completion", created: 1, model: "m", choices: [choice] }));
  const client = openaiClient(gateway.url);
  const completion = await client.chat.completions.create({ model, messages });
  expect(completion.choices[0]!.message.content).toBe("Hello");
  expectSigned("/v1/chat/completions");
  const item = { type: "message", id: "msg_1", role: "assistant", status: "completed" };
  const output = [{ ...item, content: [{ type: "output_text", text: "Hello", annotations: [] }] }];
  host.handle(() =>
    json({ id: "resp_1", object: "response", created_at: 1, model: "m", status: "completed", output }),
  );
  const response = await client.responses.create({ model, input: "hi" });
  expect(response.output_text).toBe("Hello");
  expectSigned("/v1/responses");
});

test("a messages client of another model is served in a format that the model has", async () => {
  const chunks = [
    { choices: [{ index: 0, delta: { role: "assistant", content: "Hello" }, finish_reason: null }] },
    { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
  ].map((chunk) => `data: ${JSON.stringify({ id: "c", created: 1, model: "m", ...chunk })}\n\n`);
  host.handle(({ request }) =>
    request.path === "/v1/chat/completions" ? sse([...chunks, "data: [DONE]\n\n"]) : json({}, 404),
  );
  const message = await anthropicClient(gateway.url)
    .messages.stream({ model: "bedrock-mantle/openai.gpt-oss-20b", max_tokens: 9, messages })
    .finalMessage();
  expect(message.content).toMatchObject([{ type: "text", text: "Hello" }]);
  expect(host.requests.map(({ path }) => path)).toEqual(["/v1/responses", "/v1/chat/completions"]);
});
