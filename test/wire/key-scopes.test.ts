/** What the scopes of a key refuse, as the vendors' SDKs report it, and that a refused call reaches no provider. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { ApiError, GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import type { JsonObject } from "../../src/core/json.ts";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { anthropicClient, openaiClient } from "../helpers/sdk.ts";
import { json, startUpstream, type Upstream, type UpstreamRequest } from "../helpers/upstream.ts";

/** Scopes by the name of the key. */
const SCOPES = {
  all: {},
  small: { models: ["alpha/small"] },
  names: { models: ["fast", "either"] },
  alphas: { models: ["alpha/*"] },
  alpha: { providers: ["alpha"] },
  beta: { providers: ["beta"] },
  chat: { endpoints: ["chat"] },
  messages: { endpoints: ["messages"] },
  elsewhere: { addresses: ["10.0.0.0/8"] },
  here: { addresses: ["127.0.0.0/8", "::1"] },
  plain: { serverTools: false },
  short: { maxTokens: 100 },
} as const;
type Name = keyof typeof SCOPES;

const textOf = (name: Name) => `a-key-of-the-gateway-${name}-1234567890`;

let upstream: Upstream;
let gateway: RunningGateway;
/** The deployment that fails. */
let failing: string | undefined;

beforeAll(async () => {
  upstream = startUpstream(answer);
  const host = (name: string, models: string[]) => ({
    ...{ baseUrl: `${upstream.url}/${name}`, apiKey: `key-of-${name}-123456`, models },
    speaks: "chat-completions",
  });
  gateway = await startGateway({
    config: {
      keys: Object.entries(SCOPES).map(([name, scopes]) => ({ name, key: textOf(name as Name), ...scopes })),
      providers: { alpha: host("alpha", ["small", "large"]), beta: host("beta", ["spare"]) },
      aliases: { fast: "alpha/large" },
      routes: { either: ["alpha/large", { model: "beta/spare", priority: 1 }] },
      fallbacks: { "alpha/small": ["beta/spare"] },
      retries: { attempts: 3 },
    },
    env: { WEIR_STATE: "none" },
  });
});

beforeEach(() => {
  failing = undefined;
  upstream.requests.length = 0;
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

function answer({ path, body }: UpstreamRequest) {
  if (failing !== undefined && path.startsWith(`/${failing}`))
    return json({ error: { message: "broken", type: "server_error" } }, 500);
  const { model } = JSON.parse(body.toString()) as { model: string };
  return json({
    ...{ id: "c1", object: "chat.completion", created: 1, model },
    choices: [{ index: 0, message: { role: "assistant", content: "Hello." }, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  });
}

/** The providers that were asked, in order. */
const asked = () => upstream.requests.map(({ path }) => path.split("/")[1]);

const hi = [{ role: "user" as const, content: "hi" }];

/** One call in each format: the model, the limit of output tokens, and members of the format. */
type Speak = (name: Name, model: string, limit?: number, more?: object) => Promise<unknown>;

const chat: Speak = (name, model, limit, more) =>
  openaiClient(gateway.url, { apiKey: textOf(name) }).chat.completions.create({
    ...{ model, messages: hi, max_tokens: limit },
    ...more,
  } as OpenAI.ChatCompletionCreateParamsNonStreaming);

const messages: Speak = (name, model, limit = 10, more) =>
  anthropicClient(gateway.url, { apiKey: textOf(name) }).messages.create({
    ...{ model, messages: hi, max_tokens: limit },
    ...more,
  } as Anthropic.MessageCreateParamsNonStreaming);

const responses: Speak = (name, model, limit, more) =>
  openaiClient(gateway.url, { apiKey: textOf(name) }).responses.create({
    ...{ model, input: "hi", max_output_tokens: limit },
    ...more,
  } as OpenAI.Responses.ResponseCreateParamsNonStreaming);

const gemini: Speak = (name, model, limit, more) =>
  new GoogleGenAI({
    apiKey: textOf(name),
    httpOptions: { baseUrl: gateway.url },
  }).models.generateContent({ model, contents: "hi", config: { maxOutputTokens: limit, ...more } });

/** The codes that the SDKs find in an error, with its class and status. */
async function refusal(pending: Promise<unknown>) {
  const thrown = await pending.then(
    () => new Error("the call was not refused"),
    (error: unknown) => error as Error,
  );
  const { constructor, message } = thrown;
  if (thrown instanceof OpenAI.APIError)
    return { type: constructor.name, status: thrown.status, code: thrown.code, message };
  if (thrown instanceof Anthropic.APIError) {
    const { error } = thrown.error as { error: { type: string; details?: JsonObject } };
    return { type: constructor.name, status: thrown.status, code: error.details?.["error_code"], message };
  }
  if (!(thrown instanceof ApiError)) throw thrown;
  const { error } = JSON.parse(message) as { error: { message: string; details?: { reason?: string }[] } };
  const code = error.details?.find(({ reason }) => reason !== undefined)?.reason;
  return { type: constructor.name, status: thrown.status, code, message: error.message };
}

const FORMATS = { chat, messages, responses, gemini };

const classOf = (format: keyof typeof FORMATS, sdk: string) => (format === "gemini" ? "ApiError" : sdk);

for (const [format, speak] of Object.entries(FORMATS) as [keyof typeof FORMATS, Speak][])
  describe(`in the format ${format}`, () => {
    test("a model that the key may not use is a 403 that no provider sees", async () => {
      const refused = await refusal(speak("small", "alpha/large", 10));
      expect(refused).toMatchObject({
        ...{ type: classOf(format, "PermissionDeniedError"), status: 403, code: "model_not_allowed" },
        message: expect.stringContaining("The key small may not use the model `alpha/large`"),
      });
      expect(asked()).toEqual([]);
      await speak("small", "alpha/small", 10);
      expect(asked()).toEqual(["alpha"]);
    });

    test("a key that may use only other providers gets a 403", async () => {
      const refused = await refusal(speak("beta", "alpha/large", 10));
      expect([refused.status, refused.code]).toEqual([403, "provider_not_allowed"]);
      expect(asked()).toEqual([]);
    });

    test("a limit of output tokens above that of the key is a 400, and so is none where the model's is unknown", async () => {
      const refused = await refusal(speak("short", "alpha/small", 101));
      expect(refused).toMatchObject({
        ...{ type: classOf(format, "BadRequestError"), status: 400, code: "max_tokens_exceeded" },
        message: expect.stringContaining("Set a limit of at most 100."),
      });
      if (format !== "messages") {
        const unlimited = await refusal(speak("short", "alpha/small"));
        expect([unlimited.status, unlimited.code]).toEqual([400, "max_tokens_exceeded"]);
        expect(unlimited.message).toContain("names no limit of output tokens");
      }
      expect(asked()).toEqual([]);
      await speak("short", "alpha/small", 100);
      expect(asked()).toEqual(["alpha"]);
    });

    test("tools that the provider runs are a 403 for a key that may not use them", async () => {
      const more = {
        chat: { web_search_options: {} },
        messages: { tools: [{ type: "web_search_20250305", name: "web_search" }] },
        responses: { tools: [{ type: "web_search" }] },
        gemini: { tools: [{ googleSearch: {} }] },
      }[format];
      const refused = await refusal(speak("plain", "alpha/small", 10, more));
      expect([refused.status, refused.code]).toEqual([403, "server_tools_not_allowed"]);
      expect(asked()).toEqual([]);
      await speak("plain", "alpha/small", 10);
    });

    test("an endpoint that the key may not use is a 403", async () => {
      const refused = await refusal(speak(format === "chat" ? "messages" : "chat", "alpha/small", 10));
      expect([refused.status, refused.code]).toEqual([403, "endpoint_not_allowed"]);
      expect(asked()).toEqual([]);
    });

    test("a key that is bound to other addresses is a 403", async () => {
      const refused = await refusal(speak("elsewhere", "alpha/small", 10));
      expect([refused.status, refused.code]).toEqual([403, "address_not_allowed"]);
      expect(asked()).toEqual([]);
      await speak("here", "alpha/small", 10);
    });
  });

test("an alias or a route needs a permission for its own name, and needs none for its model", async () => {
  for (const name of ["fast", "either"]) {
    expect((await refusal(chat("small", name))).code).toBe("model_not_allowed");
    expect((await refusal(messages("small", name))).code).toBe("model_not_allowed");
  }
  expect(asked()).toEqual([]);
  await chat("names", "fast");
  await chat("names", "either");
  expect(asked()).toEqual(["alpha", "alpha"]);
  expect((await refusal(chat("names", "alpha/large"))).code).toBe("model_not_allowed");
});

test("other operations with a model refuse it as well", async () => {
  const post = async (path: string, body: object) => {
    const response = await fetch(gateway.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${textOf("small")}` },
      body: JSON.stringify({ model: "alpha/large", ...body }),
    });
    return [response.status, (await response.text()).includes("model_not_allowed")];
  };
  const contents = [{ role: "user", parts: [{ text: "hi" }] }];
  for (const [path, body] of [
    ["/v1/embeddings", { input: "hi" }],
    ["/v1/explain?format=chat-completions", { messages: hi }],
    ["/v1/messages/count_tokens", { messages: hi }],
    ["/v1/responses/input_tokens", { input: "hi" }],
    ["/v1/responses/compact", { input: "hi" }],
    ["/v1beta/models/alpha/large:countTokens", { contents }],
    ["/v1beta/models/alpha/large:embedContent", { content: contents[0] }],
  ] as const)
    expect([path, ...(await post(path, body))]).toEqual([path, 403, true]);
  expect(asked()).toEqual([]);
});

test("a failed call never goes on to a provider or a model that its key may not use", async () => {
  failing = "alpha";
  await chat("all", "alpha/small");
  expect(asked().at(-1)).toBe("beta");
  for (const [name, model] of [
    ["alpha", "alpha/small"],
    ["alpha", "either"],
    ["small", "alpha/small"],
  ] as const) {
    upstream.requests.length = 0;
    expect((await refusal(chat(name, model))).status).toBeGreaterThanOrEqual(500);
    expect(asked()).not.toContain("beta");
  }
});

test("a route skips the provider that its key may not use", async () => {
  await chat("beta", "either");
  expect(asked()).toEqual(["beta"]);
});

test("the lists of models contain exactly what the key may use", async () => {
  const listed = async (name: Name) => {
    const page = await openaiClient(gateway.url, { apiKey: textOf(name) }).models.list();
    return page.data.map(({ id }) => id).sort();
  };
  expect(await listed("all")).toEqual(expect.arrayContaining(["either", "fast", "large", "small", "spare"]));
  expect(await listed("small")).toEqual(["small"]);
  expect(await listed("names")).toEqual(["either", "fast"]);
  expect(await listed("alphas")).toEqual(["either", "fast", "large", "small"]);
  expect(await listed("beta")).toEqual(["either", "spare"]);
  const anthropic = await anthropicClient(gateway.url, { apiKey: textOf("small") }).models.list();
  expect(anthropic.data.map(({ id }) => id)).toEqual(["small"]);
  const google = new GoogleGenAI({ apiKey: textOf("small"), httpOptions: { baseUrl: gateway.url } });
  const names: unknown[] = [];
  for await (const model of await google.models.list()) names.push(model.name);
  expect(names).toEqual(["models/small"]);
  const one = openaiClient(gateway.url, { apiKey: textOf("small") }).models.retrieve("alpha/large");
  expect((await refusal(one)).code).toBe("model_not_allowed");
});
