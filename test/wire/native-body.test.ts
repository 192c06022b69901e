/** What weir changes in the body of a native call, and that every other byte stays as the client wrote it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type RunningGateway, startGateway, UPSTREAM_KEYS } from "../helpers/gateway.ts";
import { json, sse, startUpstream, type Upstream } from "../helpers/upstream.ts";

let gateway: RunningGateway;
let upstream: Upstream;

const ANSWER = {
  id: "c1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
};

const PLUGIN = `import { chatCompletions, definePlugin } from "weir";
export default definePlugin({
  name: "acme",
  providers: [
    chatCompletions({
      name: "acme",
      baseUrl: "http://127.0.0.1:1/v1",
      envelope: { "chat-completions": { without: ["metadata"], with: (call, stream) => ({ version: 3, live: stream }) } },
      patch(body) {
        body.messages[0].content = body.messages[0].content.toUpperCase();
        body.seed = undefined;
        delete body.top_p;
      },
    }),
  ],
});
`;

beforeAll(async () => {
  upstream = startUpstream(json(ANSWER));
  const provider = { baseUrl: `${upstream.url}/v1`, apiKey: UPSTREAM_KEYS.openai };
  gateway = await startGateway({
    config: {
      providers: {
        openai: provider,
        mistral: provider,
        deepseek: provider,
        groq: provider,
        acme: { baseUrl: provider.baseUrl },
      },
    },
    plugins: { "acme.ts": PLUGIN },
  });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

async function send(
  body: string,
  headers: Record<string, string> = {},
): Promise<{ response: Response; sent: string }> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
  });
  return { response, sent: upstream.requests.at(-1)!.body.toString() };
}

const messages = '"messages" : [{"role":"user","content":"hi"}]';

test("a provider with a patch gets every member the patch leaves alone byte for byte", async () => {
  upstream.answer(() => json(ANSWER));
  const rest = `${messages},  "seed":9007199254740993, "logit_bias":{"1":1e400}, "x":9007199254740993 }`;
  const { sent } = await send(`{"model":"groq/llama-3.1-8b-instant",${rest}`);
  expect(sent).toBe(`{"model":"llama-3.1-8b-instant",${rest}`);
  const { sent: effort } = await send(
    `{"reasoning_effort":"high","model":"groq/llama-3.1-8b-instant",${rest}`,
  );
  expect(effort).toBe(`{"model":"llama-3.1-8b-instant",${rest}`);
});

test("a dropped plugin's patch and envelope change only the members they touch", async () => {
  upstream.answer(() => json(ANSWER));
  const body = `{ "model":"acme/m", "seed" : 1,"x":1e400,${messages}, "metadata":{}, "top_p": 1 }`;
  const { sent } = await send(body);
  expect(sent).toBe(
    `{"version":3,"live":false, "model":"m", "x":1e400,"messages" : [{"role":"user","content":"HI"}] }`,
  );
});

test("what Mistral's patch removes is reported as a loss, and refused in strict mode", async () => {
  upstream.answer(() => json(ANSWER));
  const body = `{"model":"mistral/mistral-large-latest","user":"u1","seed":7,${messages}}`;
  const { response, sent } = await send(body);
  expect(sent).toBe(`{"random_seed":7,"model":"mistral-large-latest",${messages}}`);
  expect(response.headers.get("x-weir-warnings")).toBe("dropped:user");
  const before = upstream.requests.length;
  const strict = await send(body, { "x-weir-strict": "true" });
  expect([strict.response.status, await strict.response.text()]).toEqual([
    400,
    expect.stringContaining("dropped:user"),
  ]);
  expect(upstream.requests.length).toBe(before);
});

test("DeepSeek's patch does not overwrite a thinking that the client enabled", async () => {
  upstream.answer(() => json(ANSWER));
  const tools = '"tool_choice":"required","tools":[{"type":"function","function":{"name":"f"}}]';
  const enabled = `{"model":"deepseek/deepseek-chat","thinking":{ "type":"enabled" },${tools},${messages}}`;
  expect((await send(enabled)).sent).toContain('"thinking":{ "type":"enabled" }');
  const silent = `{"model":"deepseek/deepseek-chat",${tools},${messages}}`;
  expect((await send(silent)).sent).toContain('"thinking":{"type":"disabled"}');
});
