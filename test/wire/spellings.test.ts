/** What a request may cost and do is decided by what it says, in every spelling of JSON. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { isObject, type Json, type JsonObject, parseJson } from "../../src/core/json.ts";
import { fixturesOf } from "../helpers/fixtures.ts";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { recordings } from "../helpers/recordings.ts";
import { spell } from "../helpers/spellings.ts";
import { randomOf } from "../helpers/text-kinds.ts";
import { json, startUpstream, type Upstream } from "../helpers/upstream.ts";
import { IS_LONG } from "../helpers/effort.ts";

let gateway: RunningGateway;
let upstream: Upstream;

const KEYS = { plain: { serverTools: false }, cheap: { maxCost: 0.01 }, all: {} } as const;
const keyOf = (name: keyof typeof KEYS) => `a-key-of-the-gateway-${name}-1234567890`;

beforeAll(async () => {
  upstream = startUpstream(json({ error: { message: "broken", type: "server_error" } }, 500));
  const { url } = upstream;
  gateway = await startGateway({
    config: {
      providers: {
        openai: { baseUrl: `${url}/v1`, apiKey: "key-of-openai-123456" },
        anthropic: { baseUrl: url, apiKey: "key-of-anthropic-123456" },
        gemini: { baseUrl: `${url}/v1beta`, apiKey: "key-of-gemini-123456" },
      },
      keys: Object.entries(KEYS).map(([name, scopes]) => ({ name, key: keyOf(name as "all"), ...scopes })),
      prices: { "openai/*": PRICE, "anthropic/*": PRICE, "gemini/*": PRICE },
      budgets: { month: { on: "all", every: "month", limit: 1000, mode: "hard" } },
      retries: { attempts: 1 },
    },
    env: { WEIR_STATE: "none" },
  });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const PRICE = { input: 2, output: 10 };

/** One model for the native lane of each client language, one for a translation. */
const MODELS: Record<string, readonly [native: string, translated: string]> = {
  "chat-completions": ["openai/m", "anthropic/m"],
  messages: ["anthropic/m", "gemini/m"],
  responses: ["openai/m", "anthropic/m"],
  gemini: ["gemini/m", "openai/m"],
  ollama: ["openai/m", "anthropic/m"],
};

/** What explain says of plan, hold and losses, or the error. */
async function explained(format: string, body: string): Promise<Json> {
  const response = await fetch(`${gateway.url}/v1/explain?format=${format}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${keyOf("all")}` },
    body,
  });
  const answer = (await response.json()) as JsonObject;
  if (!response.ok) return [response.status, codeOf(answer)];
  const { served_by, plan, cost, losses } = answer;
  const sorted = (losses as Json[]).map((loss) => JSON.stringify(loss)).sort();
  return { served_by: served_by!, plan: plan!, cost: cost!, losses: sorted };
}

function codeOf({ error, code }: JsonObject): Json {
  // Which of several faults is named may depend on their order.
  return isObject(error) ? [error["type"] ?? null, error["code"] ?? null] : (code ?? null);
}

const SPELLINGS = IS_LONG ? 20 : 3;

/** @returns how many of the two models can take the request */
async function expectSame(format: string, body: JsonObject, seed: number): Promise<number> {
  let taken = 0;
  for (const model of MODELS[format]!) {
    const named = { ...body, model };
    const wanted = await explained(format, JSON.stringify(named));
    if (isObject(wanted)) taken++;
    const random = randomOf(seed);
    for (let round = 0; round < SPELLINGS; round++) {
      const text = spell(named, random);
      expect(JSON.parse(text)).toEqual(named);
      expect({ text, explained: await explained(format, text) }).toEqual({ text, explained: wanted });
    }
  }
  return taken;
}

describe("the plan, the hold and the losses of a request do not depend on its spelling", () => {
  for (const format of Object.keys(MODELS))
    test(`${format}: the requests of the fixtures`, async () => {
      const bodies = fixturesOf("requests", format).map(({ text }) => parseJson(text));
      expect(bodies.length).toBeGreaterThan(5);
      let taken = 0;
      for (const [at, body] of bodies.entries())
        if (isObject(body)) taken += await expectSame(format, body, at);
      expect(taken).toBeGreaterThan(bodies.length / 2);
    }, 120_000);

  const APIS = { chat: "chat-completions", messages: "messages", responses: "responses", gemini: "gemini" };
  for (const [api, format] of Object.entries(APIS))
    test(`${format}: recorded requests`, async () => {
      const all = recordings({ api }).flatMap(({ request }) =>
        isObject(request?.body) ? [request.body] : [],
      );
      // All of them take six minutes: LONG_SPELLINGS=1.
      const step = process.env["LONG_SPELLINGS"] ? 1 : Math.ceil(all.length / 12);
      const sample = all.filter((_, at) => at % step === 0);
      for (const [at, body] of sample.entries())
        if (JSON.stringify(body).length < 100_000) await expectSame(format, body as JsonObject, at);
    }, 600_000);
});

/** A request of each language with a tool of the provider, and one with a document that the provider fetches. */
const hi = "hi";
const DOCUMENT = "https://example.com/report.pdf";
const REFUSED: Record<string, { path: string; tool: JsonObject; document?: JsonObject }> = {
  "chat-completions": {
    path: "/v1/chat/completions",
    tool: { messages: [{ role: "user", content: hi }], tools: [{ type: "web_search_preview" }] },
    document: {
      messages: [{ role: "user", content: [{ type: "file", file: { file_id: "file-1" } }] }],
    },
  },
  messages: {
    path: "/v1/messages",
    tool: {
      max_tokens: 10,
      messages: [{ role: "user", content: hi }],
      tools: [{ type: "web_search_20250305", name: "web_search" }],
    },
    document: {
      max_tokens: 10,
      messages: [{ role: "user", content: [{ type: "document", source: { type: "url", url: DOCUMENT } }] }],
    },
  },
  responses: {
    path: "/v1/responses",
    tool: { input: hi, tools: [{ type: "web_search" }] },
    document: {
      input: [{ role: "user", content: [{ type: "input_file", file_url: DOCUMENT }] }],
    },
  },
  gemini: {
    path: "/v1beta/models/gemini/m:generateContent",
    tool: { contents: [{ role: "user", parts: [{ text: hi }] }], tools: [{ googleSearch: {} }] },
    document: {
      contents: [{ role: "user", parts: [{ fileData: { fileUri: DOCUMENT, mimeType: "application/pdf" } }] }],
      generationConfig: { maxOutputTokens: 10 },
    },
  },
};

async function ask(path: string, key: keyof typeof KEYS, body: string) {
  const response = await fetch(gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${keyOf(key)}` },
    body,
  });
  return { status: response.status, text: await response.text() };
}

describe("the scopes of a key hold in every spelling", () => {
  for (const [format, { path, tool, document }] of Object.entries(REFUSED))
    test(`${format}`, async () => {
      const random = randomOf(11);
      const model = MODELS[format]![0];
      upstream.requests.length = 0;
      for (let round = 0; round < 20; round++) {
        const named = format === "gemini" ? {} : { model };
        const refused = await ask(path, "plain", spell({ ...tool, ...named }, random));
        expect([refused.status, refused.text]).toEqual([403, expect.stringContaining("server")]);
        if (!document) continue;
        const dear = await ask(path, "cheap", spell({ ...document, ...named }, random));
        expect([dear.status, dear.text]).toEqual([400, expect.stringContaining("cost_limit_exceeded")]);
      }
      expect(upstream.requests).toEqual([]);
      if (format === "responses") {
        const input = [{ type: "additional_tools", role: "developer", tools: tool["tools"]! }];
        const refused = await ask(path, "plain", spell({ model, input }, random));
        expect([refused.status, refused.text]).toEqual([403, expect.stringContaining("server")]);
      }
      // A tool of the client's own is none of the provider, whatever its name is.
      const messages = [{ role: "user", content: hi }];
      const own = { type: "function", function: { name: "web_search", parameters: {} } };
      if (format === "chat-completions")
        expect((await ask(path, "plain", JSON.stringify({ model, messages, tools: [own] }))).status).toBe(
          500,
        );
    }, 60_000);
});
