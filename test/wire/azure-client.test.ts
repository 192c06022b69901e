/** The SDKs for Azure and Foundry pointed at weir: their paths, their headers, and the deployment as the name of the model. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { AnthropicFoundry } from "@anthropic-ai/foundry-sdk";
import OpenAI, { AzureOpenAI } from "openai";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { json, startUpstream, type Upstream, type UpstreamRequest } from "../helpers/upstream.ts";

const KEY = "gateway-key-canary-0123456789";
const VERSION = "2024-10-21";

let host: Upstream;
let gateway: RunningGateway;

beforeAll(async () => {
  host = startUpstream(answering);
  gateway = await startGateway({
    env: { WEIR_STATE: "none" },
    config: {
      keys: [{ name: "team", key: KEY }],
      providers: {
        openai: { apiKey: "k-0123456789", baseUrl: `${host.url}/v1`, prefer: "chat-completions" },
      },
    },
  });
});

beforeEach(() => void host.requests.splice(0));

afterAll(async () => {
  await gateway.stop();
  host.stop();
});

function answering({ path, body }: UpstreamRequest) {
  const { model, input } = JSON.parse(body.toString() || "{}") as { model: string; input?: unknown };
  if (path.endsWith("/embeddings"))
    return json({
      ...{ object: "list", model },
      data: [{ object: "embedding", index: 0, embedding: [0.5, 0.25] }],
      usage: { prompt_tokens: 1, total_tokens: 1 },
    });
  if (input !== undefined)
    return json({
      ...{ id: "resp_1", object: "response", created_at: 1, model, status: "completed" },
      output: [
        {
          ...{ id: "msg_1", type: "message", role: "assistant", status: "completed" },
          content: [{ type: "output_text", text: "hello", annotations: [] }],
        },
      ],
      usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
    });
  return json({
    ...{ id: "c", object: "chat.completion", created: 1, model },
    choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  });
}

const hi = [{ role: "user" as const, content: "hi" }];
const azure = (deployment?: string, apiKey = KEY) =>
  new AzureOpenAI({
    ...{ endpoint: gateway.url, apiKey, apiVersion: VERSION, maxRetries: 0, logLevel: "off" },
    ...(deployment !== undefined && { deployment }),
  });
const sentModel = () => (JSON.parse(host.requests.at(-1)!.body.toString()) as { model: string }).model;

describe("AzureOpenAI with a dated version", () => {
  test("chat: the deployment is the model, also one with a slash", async () => {
    for (const model of ["gpt-4o", "openai/gpt-4o"]) {
      const answer = await azure().chat.completions.create({ model, messages: hi });
      expect([answer.choices[0]!.message.content, sentModel()]).toEqual(["hello", "gpt-4o"]);
    }
  });

  test("the deployment of the path wins over the model in the body", async () => {
    await azure("gpt-4o").chat.completions.create({ model: "whatever", messages: hi });
    expect(sentModel()).toBe("gpt-4o");
  });

  test("a stream", async () => {
    const chunk = {
      id: "c",
      model: "m",
      choices: [{ index: 0, delta: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
    };
    host.answer(() => ({
      headers: { "content-type": "text/event-stream" },
      body: `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`,
    }));
    const stream = azure().chat.completions.stream({ model: "gpt-4o", messages: hi });
    expect(await stream.finalContent()).toBe("hello");
    host.answer(answering);
  });

  test("responses and embeddings", async () => {
    const { output_text } = await azure().responses.create({ model: "openai/gpt-4o", input: "hi" });
    expect(output_text).toBe("hello");
    const { data } = await azure().embeddings.create({ model: "openai/text-embedding-3-small", input: "hi" });
    expect(data[0]!.embedding).toEqual([0.5, 0.25]);
    expect(sentModel()).toBe("text-embedding-3-small");
  });

  test("the list of models", async () => {
    const { data } = await azure().models.list();
    expect(data.map(({ id }) => id)).toContain("gpt-4o");
    expect((await azure().models.retrieve("gpt-4o")).id).toBe("gpt-4o");
  });

  test("a wrong key is refused in the words that the SDK reads", async () => {
    const refused = await azure(undefined, "wrong-key-0123456789")
      .chat.completions.create({ model: "gpt-4o", messages: hi })
      .catch((thrown: unknown) => thrown);
    expect(refused).toMatchObject({ status: 401, code: "invalid_api_key" });
    expect(host.requests.length).toBe(0);
  });
});

test("a body without a model at the path of a deployment, as programs without an SDK send it", async () => {
  const response = await fetch(
    `${gateway.url}/openai/deployments/gpt-4o/chat/completions?api-version=${VERSION}`,
    {
      method: "POST",
      headers: { "content-type": "application/json", "api-key": KEY },
      body: JSON.stringify({ messages: hi }),
    },
  );
  expect([response.status, sentModel()]).toEqual([200, "gpt-4o"]);
});

test("OpenAI at /openai/v1, with the stored answers below", async () => {
  const client = new OpenAI({
    baseURL: `${gateway.url}/openai/v1`,
    apiKey: KEY,
    maxRetries: 0,
    logLevel: "off",
  });
  const chat = await client.chat.completions.create({ model: "gpt-4o", messages: hi });
  expect(chat.choices[0]!.message.content).toBe("hello");
  const { id } = await client.responses.create({ model: "openai/gpt-4o", input: "hi" });
  const retrieved = await client.responses.retrieve(id);
  expect(retrieved.output_text).toBe("hello");
  const dated = await azure().responses.retrieve(id);
  expect(dated.id).toBe(id);
  const unknown = await client.responses.retrieve(`${id}x`).catch((thrown: unknown) => thrown);
  expect(unknown).toMatchObject({ status: 404 });
  expect((await client.models.list()).data.length).toBeGreaterThan(0);
});

test("an unknown path of Azure says what there is", async () => {
  const refused = await azure()
    .fineTuning.jobs.list()
    .catch((thrown: unknown) => thrown);
  expect(refused).toMatchObject({ status: 404, code: "unknown_url" });
});

test("AnthropicFoundry, at weir's address and below /anthropic", async () => {
  for (const baseURL of [gateway.url, `${gateway.url}/anthropic/`]) {
    const client = new AnthropicFoundry({ baseURL, apiKey: KEY, maxRetries: 0, logLevel: "off" });
    const { content } = await client.messages.create({ model: "openai/gpt-4o", max_tokens: 5, messages: hi });
    expect(content).toMatchObject([{ type: "text", text: "hello" }]);
    const { input_tokens } = await client.messages.countTokens({ model: "openai/gpt-4o", messages: hi });
    expect(input_tokens).toBeGreaterThan(0);
  }
});

test("the version of AzureOpenAI does not reach the provider that stores an answer", async () => {
  const storing = await startGateway({
    env: { WEIR_STATE: "none" },
    config: { providers: { azure: { apiKey: "k-0123456789", baseUrl: `${host.url}/openai/v1` } } },
  });
  const client = new AzureOpenAI({ endpoint: storing.url, apiKey: KEY, apiVersion: VERSION, maxRetries: 0 });
  host.answer((request) => answering({ ...request, body: Buffer.from('{"input":"hi","model":"m"}') }));
  const { id } = await client.responses.create({ model: "azure/gpt-5", input: "hi" });
  await client.responses.retrieve(id, { include: ["reasoning.encrypted_content"] });
  expect(host.requests.at(-1)!.path).toBe(
    `/openai/v1/responses/${id}?include${encodeURIComponent("[]")}=reasoning.encrypted_content`,
  );
  host.answer(answering);
  await storing.stop();
});
