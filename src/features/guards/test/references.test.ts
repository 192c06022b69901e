/** Names to which other parts of a conversation refer cannot be replaced: a value in one is refused, and no error repeats it. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { JsonObject } from "../../../core/json.ts";
import { type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import { json, startUpstream, type Upstream } from "../../../../test/helpers/upstream.ts";

setDefaultTimeout(60_000);

let gateway: RunningGateway;
let upstream: Upstream;

beforeAll(async () => {
  upstream = startUpstream(json({ choices: [{ index: 0, message: { role: "assistant", content: "Hi" } }] }));
  gateway = await startGateway({
    config: {
      providers: {
        p: { speaks: "chat-completions", baseUrl: `${upstream.url}/v1`, apiKey: "k-1234567", models: ["m"] },
      },
      guards: {
        staff: { find: [{ name: "employee", pattern: "E_\\d{6}" }, "email"], do: "replace" },
        cards: { find: ["card"], do: "block" },
      },
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const ID = "E_123456";
const user = { role: "user", content: `Ask ${ID}` };
const tool = (name: string, properties: JsonObject = {}) => ({
  type: "function",
  function: { name, parameters: { type: "object", properties } },
});
const input = (args: JsonObject, name = "send") => [
  { role: "user", content: "Hello" },
  { role: "assistant", content: [{ type: "tool_use", id: "t", name, input: args }] },
  { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: ID }] },
];

const CASES: Record<string, [path: string, body: JsonObject, place: string]> = {
  "the name of a tool": [
    "/v1/chat/completions",
    { messages: [user], tools: [tool(`ask_${ID}`)] },
    "tools[0].function.name",
  ],
  "a property of a tool": [
    "/v1/chat/completions",
    { messages: [user], tools: [tool("ask", { [ID]: { type: "string" } })] },
    "tools[0].function.parameters.properties{}",
  ],
  "the name of a tool that was called": [
    "/v1/messages",
    { max_tokens: 9, messages: input({}, `ask_${ID}`) },
    "messages[1].content[0].name",
  ],
  "a name in arguments": [
    "/v1/messages",
    { max_tokens: 9, messages: input({ [ID]: 1 }) },
    "messages[1].content[0].input{}",
  ],
  "a name in metadata": [
    "/v1/responses",
    { input: "Hi", metadata: { "anna@example.com": "x" } },
    "metadata{}",
  ],
  "a tool of Gemini": [
    "/v1beta/models/p/m:generateContent",
    {
      contents: [{ parts: [{ text: ID }] }],
      tools: [{ function_declarations: [{ name: `a_${ID}`, parameters: { type: "object" } }] }],
    },
    "tools[0].function_declarations[0].name",
  ],
};

describe("a value that would be replaced is refused in", () => {
  for (const [what, [path, body, place]] of Object.entries(CASES))
    test(what, async () => {
      const response = await post(path, body);
      const text = await response.text();
      expect([response.status, text]).toEqual([400, expect.stringContaining(`refused ${place}: it holds`)]);
      expect(text).not.toMatch(/E_123456|anna/);
      expect(upstream.requests).toEqual([]);
    });
});

test("no error and no record has a value that is the name of a member", async () => {
  const metadata = { [`${ID}`]: "4111 1111 1111 1111" };
  const response = await post("/v1/chat/completions", {
    messages: [{ role: "user", content: "Hi" }],
    metadata,
  });
  expect(response.status).toBe(400);
  await Bun.sleep(50);
  expect((await response.text()) + gateway.log.join("\n")).not.toContain(ID);
});

test("other names, and the same value elsewhere, pass", async () => {
  const body = {
    messages: [{ ...user, name: "E_654321" }],
    tools: [tool("ask", { to: { type: "string" } })],
  };
  const response = await post("/v1/chat/completions", body);
  expect([response.status, response.headers.get("x-weir-guards")]).toEqual([
    200,
    "staff=replaced:2, cards=passed",
  ]);
  expect(upstream.requests.at(-1)!.body.toString()).not.toMatch(/E_(123456|654321)/);
});

function post(path: string, body: JsonObject): Promise<Response> {
  return fetch(gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "p/m", ...body }),
  });
}
