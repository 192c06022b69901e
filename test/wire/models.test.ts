/** What lists of models say beside names, read by the SDKs of the vendors and as clients of OpenRouter read it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import type { JsonObject } from "../../src/core/json.ts";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { json, startUpstream, type Upstream } from "../helpers/upstream.ts";

/** Entries as hosts write them, by the path of the list. */
const LISTS: Record<string, JsonObject> = {
  "/router/models": {
    data: [
      {
        ...{ id: "acme/large", name: "Acme Large", created: 5, context_length: 200_000 },
        architecture: { input_modalities: ["text", "image"], output_modalities: ["text"] },
        pricing: { prompt: "0.0000015", completion: "0.000006", input_cache_read: "0.00000015" },
        top_provider: { context_length: 200_000, max_completion_tokens: 32_000, is_moderated: false },
        supported_parameters: ["tools", "tool_choice", "temperature", "response_format"],
        expiration_date: "2027-03-01",
      },
      { id: "acme/auto", context_length: 9, pricing: { prompt: "-1", completion: "-1" } },
    ],
  },
  "/vllm/models": { data: [{ id: "qwen3", object: "model", created: 1_795_000_000, max_model_len: 32_768 }] },
  "/ollama/models": { data: [{ id: "small", object: "model" }] },
};

let gateway: RunningGateway;
let upstream: Upstream;

beforeAll(async () => {
  upstream = startUpstream(({ path }) => json(LISTS[path] ?? {}));
  gateway = await startGateway({
    config: {
      providers: {
        openai: { apiKey: "unused" },
        anthropic: { apiKey: "unused" },
        gemini: { apiKey: "unused" },
        openrouter: { apiKey: "unused", baseUrl: `${upstream.url}/router`, liveModels: true },
        vllm: { baseUrl: `${upstream.url}/vllm` },
        ollama: { baseUrl: `${upstream.url}/ollama` },
      },
      aliases: { fast: "openai/gpt-4.1-mini" },
      routes: {
        same: [{ model: "openai/gpt-4.1" }, { model: "anthropic/claude-opus-4-6" }],
        unsure: [{ model: "openai/gpt-4.1" }, { model: "ollama/small" }],
      },
      prices: {
        "openrouter/acme/large": { input: 1, output: 5 },
        "openai/gpt-4.1-mini": { input: 3, output: 4 },
      },
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const get = async (path: string) => (await (await fetch(gateway.url + path)).json()) as JsonObject;
const one = (id: string) => get(`/v1/models/${id}`);

test("a model has the members that clients of OpenRouter read", async () => {
  expect(await one("claude-opus-4-6")).toMatchObject({
    ...{ id: "claude-opus-4-6", name: "claude-opus-4-6", canonical_slug: "anthropic/claude-opus-4-6" },
    ...{ context_length: 1_000_000, max_model_len: 1_000_000 },
    architecture: {
      modality: "text+image+file->text",
      input_modalities: ["text", "image", "file"],
      output_modalities: ["text"],
    },
    pricing: {
      ...{ prompt: "0.000005", completion: "0.000025", web_search: "0.01" },
      ...{ input_cache_read: "0.0000005", input_cache_write: "0.00000625" },
    },
    top_provider: { context_length: 1_000_000, max_completion_tokens: 128_000 },
  });
});

test("the list and the single model agree", async () => {
  const { data } = (await get("/v1/models")) as { data: JsonObject[] };
  for (const model of data.filter(({ id }) => /^(same|fast|gpt-4o|qwen3)$/.test(String(id))))
    expect(await one(String(model.id))).toEqual(model);
});

test("the operator's price is before the host's list, and that before the snapshot, member by member", async () => {
  const model = await one("openrouter/acme/large");
  expect(model).toMatchObject({
    ...{ name: "Acme Large", context_length: 200_000, expiration_date: "2027-03-01" },
    pricing: { prompt: "0.000001", completion: "0.000005" },
    top_provider: { max_completion_tokens: 32_000 },
    architecture: { input_modalities: ["text", "image"] },
  });
  expect(model["pricing"]).not.toHaveProperty("input_cache_read");
  expect(await one("fast")).toMatchObject({
    context_length: 1_047_576,
    pricing: { prompt: "0.000003", completion: "0.000004" },
  });
});

test("what is not known is null or absent", async () => {
  const model = await one("small");
  expect(model).toMatchObject({
    ...{ context_length: null, max_input_tokens: null, max_tokens: null, capabilities: null },
    top_provider: { context_length: null, max_completion_tokens: null },
    ...{ expiration_date: null, lifecycle: "active", retires_at: null },
  });
  for (const name of ["pricing", "architecture", "supported_parameters"])
    expect(model).not.toHaveProperty(name);
  // A negative price stands for one that depends on the request.
  expect(await one("openrouter/acme/auto")).not.toHaveProperty("pricing");
});

test("the window of a local server is the one that it was started with", async () => {
  expect(await one("qwen3")).toMatchObject({ context_length: 32_768, max_model_len: 32_768 });
});

test("a route has what all of its models have, and no price unless it is the same", async () => {
  const route = await one("same");
  expect(route).toMatchObject({
    ...{ owned_by: "openai", context_length: 1_000_000 },
    top_provider: { max_completion_tokens: 32_768 },
    architecture: { input_modalities: ["text", "image", "file"] },
  });
  for (const name of ["pricing", "canonical_slug"]) expect(route).not.toHaveProperty(name);
  expect(await one("unsure")).toMatchObject({ context_length: null });
});

test("supported_parameters names what weir carries to the model and what the model can do", async () => {
  const parametersOf = async (id: string) => (await one(id))["supported_parameters"] as string[];
  const openai = await parametersOf("gpt-4.1");
  expect(openai).toContain("seed");
  expect(openai).toContain("logprobs");
  expect(openai).toContain("tool_choice");
  expect(openai).not.toContain("reasoning");
  const claude = await parametersOf("claude-opus-4-6");
  expect(claude).toContain("tools");
  expect(claude).toContain("reasoning");
  // The format of Anthropic has no such members.
  expect(claude).not.toContain("seed");
  expect(claude).not.toContain("logprobs");
  expect(await parametersOf("claude-opus-5-5")).not.toContain("temperature");
  expect(await parametersOf("same")).toEqual(openai.filter((name) => claude.includes(name)));
  // The host lists what the model takes.
  expect(await parametersOf("openrouter/acme/large")).toEqual([
    ...["temperature", "tools", "tool_choice", "response_format"],
  ]);
});

test("the list can be narrowed to models that take some members of a request", async () => {
  const { data } = (await get("/v1/models?supported_parameters=tools,seed")) as { data: JsonObject[] };
  const ids = data.map(({ id }) => id);
  expect(ids).toContain("gpt-4.1");
  expect(ids).not.toContain("claude-opus-4-6");
  expect(ids).not.toContain("small");
});

test("the OpenAI SDK lists and retrieves models", async () => {
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "unused", maxRetries: 0 });
  const models: OpenAI.Model[] = [];
  for await (const model of client.models.list()) models.push(model);
  expect(models.length).toBeGreaterThan(30);
  for (const { id, object, created, owned_by } of models)
    expect([typeof id, object, typeof created, typeof owned_by]).toEqual([
      "string",
      "model",
      "number",
      "string",
    ]);
  expect((await client.models.retrieve("openrouter/acme/large")).shutdown_date).toBe("2027-03-01");
});

test("the Anthropic SDK lists models in pages, with limits and the date of retirement", async () => {
  const client = new Anthropic({ baseURL: gateway.url, apiKey: "unused", maxRetries: 0 });
  const models: Anthropic.ModelInfo[] = [];
  for await (const model of client.models.list({ limit: 7 })) models.push(model);
  const all = (await get("/v1/models")) as { data: JsonObject[] };
  expect(models.map(({ id }) => id)).toEqual(all.data.map(({ id }) => String(id)));
  const claude = models.find(({ id }) => id === "claude-opus-4-6")!;
  expect(claude).toMatchObject({ type: "model", max_input_tokens: 1_000_000, max_tokens: 128_000 });
  expect(Number.isNaN(Date.parse(claude.created_at))).toBe(false);
  expect(await client.models.retrieve("openrouter/acme/large")).toMatchObject({
    ...{ display_name: "Acme Large", lifecycle: "deprecated", retires_at: "2027-03-01T00:00:00Z" },
  });
});

test("Google's SDK lists models with their limits", async () => {
  const client = new GoogleGenAI({ apiKey: "unused", httpOptions: { baseUrl: gateway.url } });
  const found = new Map<
    string,
    { inputTokenLimit?: number; outputTokenLimit?: number; supportedActions?: string[] }
  >();
  for await (const model of await client.models.list({ config: { pageSize: 9 } }))
    found.set(model.name!, model);
  expect(found.get("models/gemini-2.5-pro")).toMatchObject({
    inputTokenLimit: 1_048_576,
    outputTokenLimit: 65_536,
  });
  expect(found.get("models/gemini-2.5-pro")!.supportedActions).toContain("generateContent");
  expect(found.get("models/gemini-embedding-001")!.supportedActions).toEqual(["embedContent"]);
  expect(found.get("models/small")).not.toHaveProperty("inputTokenLimit");
});

test("another weir reads the facts of this one", async () => {
  const outer = await startGateway({ config: { providers: { weir: { baseUrl: `${gateway.url}/v1` } } } });
  const response = await fetch(`${outer.url}/v1/models/weir/acme/large`);
  expect(await response.json()).toMatchObject({
    ...{ owned_by: "weir", name: "Acme Large", context_length: 200_000, expiration_date: "2027-03-01" },
    pricing: { prompt: "0.000001", completion: "0.000005" },
  });
  await outer.stop();
}, 60_000);

test("what the operator says of a host takes its abilities away, and what it was probed for adds them", async () => {
  const probed = await startGateway({
    config: {
      providers: {
        openai: { apiKey: "unused", traits: { forcedToolChoice: false, logprobs: false, images: false } },
        ollama: {
          baseUrl: `${upstream.url}/ollama`,
          modelTraits: [
            { models: ["small"], traits: { tools: true, jsonSchema: "native", parallelToolCalls: false } },
          ],
        },
      },
    },
  });
  const of = async (id: string) =>
    (await (await fetch(`${probed.url}/v1/models/${id}`)).json()) as JsonObject;
  const openai = await of("gpt-4.1");
  expect(openai["architecture"]).toMatchObject({ input_modalities: ["text", "file"] });
  expect(openai["supported_parameters"]).toContain("tools");
  for (const name of ["tool_choice", "logprobs"]) expect(openai["supported_parameters"]).not.toContain(name);
  const small = (await of("small"))["supported_parameters"];
  for (const name of ["tools", "structured_outputs", "temperature"]) expect(small).toContain(name);
  for (const name of ["parallel_tool_calls", "reasoning", "tool_choice"]) expect(small).not.toContain(name);
  await probed.stop();
}, 60_000);
