/** Every operation that carries a text passes the guards: embeddings, counts, stored answers, prompts of Ollama. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "../../../core/json.ts";
import { embeds } from "../../../../test/helpers/embedding.ts";
import { type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import { EMAIL, provide, SPOKEN } from "../../../../test/helpers/guarded.ts";
import { json, startUpstream, type Upstream } from "../../../../test/helpers/upstream.ts";

setDefaultTimeout(60_000);

const PNG = "iVBORw0KGgo";
let state: string;
let gateway: RunningGateway;
let strict: RunningGateway;
let upstream: Upstream;
let counting: Upstream;

beforeAll(async () => {
  state = await mkdtemp(join(tmpdir(), "weir-guards-"));
  upstream = startUpstream((request) =>
    request.path.includes("embeddings") ? embeds()(request) : provide(SPOKEN["chat-completions"]!, request),
  );
  counting = startUpstream(json({ input_tokens: 7 }));
  const config = {
    providers: {
      p: {
        ...{ speaks: "chat-completions", baseUrl: `${upstream.url}/v1`, apiKey: "k-1234567" },
        ...{ models: ["m"], embeds: { embeddings: { path: "/embeddings" } } },
      },
      anthropic: { baseUrl: counting.url, apiKey: "k-1234567" },
    },
  };
  const pii = { find: ["email"], do: "replace" };
  gateway = await startGateway({
    config: { ...config, state, responses: { store: "on" }, guards: { pii } },
  });
  strict = await startGateway({ config: { ...config, guards: { pii, uninspected: "block" } } });
});

afterAll(async () => {
  await gateway.stop();
  await strict.stop();
  upstream.stop();
  counting.stop();
  await rm(state, { recursive: true, force: true });
});

function post(url: string, path: string, body: JsonObject, method = "POST"): Promise<Response> {
  return fetch(url + path, {
    method,
    headers: { "content-type": "application/json" },
    ...(method === "POST" && { body: JSON.stringify(body) }),
  });
}

const SAY = `SAY to ${EMAIL} of 3`;
const gemini = { content: { parts: [{ text: SAY }] } };

const OPERATIONS: Record<string, [path: string, body: JsonObject, places: number]> = {
  "embeddings of OpenAI": ["/v1/embeddings", { model: "p/m", input: [SAY, "x"], user: EMAIL }, 2],
  "embeddings of Gemini": ["/v1beta/models/p/m:embedContent", gemini, 1],
  "several of Gemini": [
    "/v1beta/models/p/m:batchEmbedContents",
    { requests: [{ model: "models/p/m", ...gemini }] },
    1,
  ],
  "embeddings of Ollama": ["/api/embed", { model: "p/m", input: SAY }, 1],
  "prompts of Ollama": [
    "/api/generate",
    { model: "p/m", prompt: SAY, suffix: "", system: `as ${EMAIL}`, stream: false },
    2,
  ],
  "counts of Messages": [
    "/v1/messages/count_tokens",
    { model: "claude-sonnet-4-5", system: `as ${EMAIL}`, messages: [{ role: "user", content: SAY }] },
    2,
  ],
};

describe("no provider sees a value in", () => {
  for (const [what, [path, body, places]] of Object.entries(OPERATIONS))
    test(what, async () => {
      const before = upstream.requests.length + counting.requests.length;
      const response = await post(gateway.url, path, body);
      expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
      expect(response.headers.get("x-weir-guards")).toBe(`pii=replaced:${places}`);
      const requests = [...upstream.requests, ...counting.requests];
      expect(requests.length).toBe(before + 1);
      const seen = requests.map((one) => one.body.toString()).join("\n");
      expect(seen).toContain("PII_EMAIL_");
      expect(seen).not.toContain(EMAIL);
    });
});

test("a stored answer is read, listed and continued with its values, which the provider does not see", async () => {
  const first = await post(gateway.url, "/v1/responses", { model: "p/m", input: SAY });
  const { id } = (await first.json()) as { id: string };
  for (const path of [`/v1/responses/${id}`, `/v1/responses/${id}/input_items`]) {
    const text = await (await post(gateway.url, path, {}, "GET")).text();
    expect([path, text]).toEqual([path, expect.stringContaining(EMAIL)]);
    expect(text).not.toContain("PII_EMAIL_");
  }
  const next = { model: "p/m", input: "SAY it again of 3", previous_response_id: id };
  expect((await post(gateway.url, "/v1/responses", next)).status).toBe(200);
  expect(upstream.requests.at(-1)!.body.toString()).toContain("PII_EMAIL_");
  expect(upstream.requests.map((one) => one.body.toString()).join()).not.toContain(EMAIL);
});

test("the items of a conversation have their values for the client, and tokens for the provider", async () => {
  const items = [{ role: "user", content: SAY }];
  const made = await post(gateway.url, "/v1/conversations", { items });
  const { id } = (await made.json()) as { id: string };
  const added = await post(gateway.url, `/v1/conversations/${id}/items`, { items });
  const before = upstream.requests.length;
  for (const input of ["SAY it again of 3", "SAY it once more of 3"]) {
    const answer = await post(gateway.url, "/v1/responses", { model: "p/m", input, conversation: id });
    expect([answer.status, await answer.text()]).toEqual([200, expect.not.stringContaining("PII_EMAIL_")]);
  }
  const sent = upstream.requests.slice(before).map((one) => one.body.toString());
  expect(sent).toEqual([expect.stringContaining("PII_EMAIL_"), expect.stringContaining("PII_EMAIL_")]);
  expect(sent.join()).not.toContain(EMAIL);
  const listed = await (await post(gateway.url, `/v1/conversations/${id}/items`, {}, "GET")).text();
  for (const text of [listed, await added.text()]) {
    expect(text).toContain(EMAIL);
    expect(text).not.toContain("PII_EMAIL_");
  }
});

const image = { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } };
const UNREAD: Record<string, [string, JsonObject, string]> = {
  "an image of Messages": [
    "/v1/messages",
    { max_tokens: 9, messages: [{ role: "user", content: [image] }] },
    "messages[0].content[0].source.data",
  ],
  "an image of chat-completions": [
    "/v1/chat/completions",
    {
      messages: [
        {
          role: "user",
          content: [{ type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } }],
        },
      ],
    },
    "messages[0].content[0].image_url.url",
  ],
  "a file of Gemini": [
    "/v1beta/models/p/m:generateContent",
    { contents: [{ parts: [{ inlineData: { mimeType: "application/pdf", data: PNG } }] }] },
    "contents[0].parts[0].inlineData.data",
  ],
  "an image in the result of a tool": [
    "/v1/responses",
    {
      input: [
        { type: "function_call", call_id: "c", name: "look", arguments: "{}" },
        {
          type: "function_call_output",
          call_id: "c",
          output: [{ type: "input_image", image_url: `data:image/png;base64,${PNG}` }],
        },
      ],
    },
    "input[1].output[0].image_url",
  ],
};

describe("uninspected: block refuses", () => {
  for (const [what, [path, body, place]] of Object.entries(UNREAD))
    test(what, async () => {
      const before = upstream.requests.length;
      const response = await post(strict.url, path, { model: "p/m", ...body });
      expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(place)]);
      expect(upstream.requests.length).toBe(before);
    });
});
