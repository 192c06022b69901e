/** What the config sets for the requests of a model, for clients of each format, in both lanes. */
import { describe, expect, test } from "bun:test";
import { answering, makeStage } from "../helpers/places.ts";
import { json, type Upstream } from "../helpers/upstream.ts";

const { upstream, gateway } = makeStage();

type Body = Record<string, unknown>;

/** A request of each format without any option, and one with options of its own. */
const clients: Record<string, { path: string; plain: (model: string) => Body; own: Body }> = {
  "chat-completions": {
    path: "/v1/chat/completions",
    plain: (model) => ({ model, messages: [{ role: "user", content: "hi" }] }),
    own: { temperature: 0.9, max_completion_tokens: 900, reasoning_effort: "low" },
  },
  messages: {
    path: "/v1/messages",
    plain: (model) => ({ model, max_tokens: 900, messages: [{ role: "user", content: "hi" }] }),
    own: { temperature: 0.9, output_config: { effort: "low" } },
  },
  responses: {
    path: "/v1/responses",
    plain: (model) => ({ model, input: "hi", store: false }),
    own: { temperature: 0.9, max_output_tokens: 900, reasoning: { effort: "low" } },
  },
  gemini: {
    path: "/v1beta/models/MODEL:generateContent",
    plain: () => ({ contents: [{ role: "user", parts: [{ text: "hi" }] }] }),
    own: {
      generation_config: {
        temperature: 0.9,
        max_output_tokens: 900,
        thinking_config: { thinking_level: "low" },
      },
    },
  },
  ollama: {
    path: "/api/chat",
    plain: (model) => ({ model, stream: false, messages: [{ role: "user", content: "hi" }] }),
    own: { options: { temperature: 0.9, num_predict: 900 }, think: "low" },
  },
};

async function send(url: string, path: string, body: Body, headers: Record<string, string> = {}) {
  const response = await fetch(url + path.replace("MODEL", "thinker"), {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return {
    status: response.status,
    text: await response.text(),
    warnings: response.headers.get("x-weir-warnings"),
  };
}

function last(provider: Upstream): Body {
  return JSON.parse(Buffer.from(provider.requests.at(-1)!.body).toString()) as Body;
}

const limitOf = (body: Body) => body["max_tokens"] ?? body["max_completion_tokens"];

const config = (provider: Upstream, settings: object) => ({
  providers: { host: { baseUrl: `${provider.url}/v1`, speaks: "chat-completions" } },
  aliases: { thinker: "host/m" },
  models: { thinker: settings },
});

const WORDS = { temperature: 0.1, maxTokens: 77, reasoningEffort: "high" };

for (const [format, { path, plain, own }] of Object.entries(clients))
  describe(format, () => {
    test("set fills in what the request leaves out, and no more", async () => {
      const provider = upstream(answering);
      const { url } = await gateway(config(provider, { set: WORDS }));
      const filled = await send(url, path, plain("thinker"));
      expect([filled.status, filled.warnings]).toEqual([200, null]);
      expect(last(provider)).toMatchObject({ temperature: 0.1, reasoning_effort: "high" });
      expect(limitOf(last(provider))).toBe(format === "messages" ? 900 : 77);
      expect((await send(url, path, { ...plain("thinker"), ...own })).status).toBe(200);
      expect(last(provider)).toMatchObject({ temperature: 0.9, reasoning_effort: "low" });
      expect(limitOf(last(provider))).toBe(900);
    });

    test("force replaces what the request says, and tells the client", async () => {
      const provider = upstream(answering);
      const { url } = await gateway(config(provider, { force: WORDS }));
      const { status, warnings } = await send(url, path, { ...plain("thinker"), ...own });
      expect(status).toBe(200);
      expect(warnings?.match(/dropped:/g)).toHaveLength(3);
      expect(last(provider)).toMatchObject({ temperature: 0.1, reasoning_effort: "high" });
      expect(limitOf(last(provider))).toBe(77);
      const strict = await send(url, path, { ...plain("thinker"), ...own }, { "x-weir-strict": "true" });
      expect([strict.status, strict.text]).toEqual([400, expect.stringContaining("dropped:")]);
    });
  });

test("in the native lane all other bytes stay as the client wrote them", async () => {
  const provider = upstream(answering);
  const { url } = await gateway(config(provider, { set: { temperature: 0.1 } }));
  const sent = '{ "model":"thinker",  "messages":[{"role":"user","content":"h\\u0069"}], "seed": 1.0 }';
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: sent,
  });
  expect(response.headers.get("x-weir-lane")).toBe("native");
  expect(Buffer.from(provider.requests.at(-1)!.body).toString()).toBe(
    sent.replace("thinker", "m").replace("{", '{"temperature":0.1,'),
  );
});

test("body adds members to the provider's request in both lanes, and the client's own stay", async () => {
  const provider = upstream(answering);
  const { url } = await gateway(
    config(provider, { body: { top_k: 5, chat_template_kwargs: { thinking: true } } }),
  );
  for (const { path, plain } of Object.values(clients)) {
    await send(url, path, plain("thinker"));
    expect(last(provider)).toMatchObject({ top_k: 5, chat_template_kwargs: { thinking: true } });
  }
  const { path, plain } = clients["chat-completions"]!;
  await send(url, path, { ...plain("thinker"), top_k: 9 });
  expect(last(provider)).toMatchObject({ top_k: 9 });
  await send(url, path, plain("host/other"));
  expect(last(provider)["top_k"]).toBeUndefined();
});

test("a limit that is set counts for the limits of a key and for what a call may cost", async () => {
  const provider = upstream(answering);
  const key = "key-of-alice-0123456789";
  const { url } = await gateway({
    ...config(provider, { set: { maxTokens: 50_000 } }),
    keys: [{ name: "alice", key, maxTokens: 40_000 }],
  });
  const { path, plain } = clients["chat-completions"]!;
  const headers = { authorization: `Bearer ${key}` };
  expect((await send(url, path, plain("thinker"), headers)).status).toBeGreaterThanOrEqual(400);
  expect((await send(url, path, { ...plain("thinker"), max_tokens: 10 }, headers)).status).toBe(200);
});

test("a pattern holds for a model by all its names, a more specific entry precedes it, and a fallback has its own", async () => {
  const [broken, spare] = [upstream(() => json({ error: { message: "no" } }, 500)), upstream(answering)];
  const { url } = await gateway({
    providers: {
      host: { baseUrl: `${broken.url}/v1`, speaks: "chat-completions" },
      spare: { baseUrl: `${spare.url}/v1`, speaks: "chat-completions" },
    },
    fallbacks: { "host/m": ["spare/n"] },
    models: {
      "host/*": { body: { a: 1 } },
      "host/m": { body: { a: 2 } },
      "spare/*": { body: { b: 1 } },
    },
    retries: { attempts: 2 },
  });
  const { path, plain } = clients["chat-completions"]!;
  await send(url, path, plain("host/m"));
  expect([last(broken)["a"], last(spare)["a"], last(spare)["b"]]).toEqual([2, undefined, 1]);
  await send(url, path, plain("host/x"));
  expect(last(broken)["a"]).toBe(1);
});

test("timeouts of a model precede those of its provider", async () => {
  const provider = upstream(async () => {
    await Bun.sleep(3_000);
    return json({});
  });
  const { url } = await gateway({
    ...config(provider, { timeouts: { firstByteMs: 300 } }),
    retries: { attempts: 1 },
  });
  const { path, plain } = clients["chat-completions"]!;
  const began = performance.now();
  expect((await send(url, path, plain("thinker"))).status).toBe(504);
  expect(performance.now() - began).toBeLessThan(2_900);
});

test("explain shows the request with its settings", async () => {
  const provider = upstream(answering);
  const { url } = await gateway(config(provider, { set: { temperature: 0.1 }, body: { top_k: 5 } }));
  const { plain } = clients["chat-completions"]!;
  const explained = await send(url, "/v1/explain", plain("thinker"));
  expect((JSON.parse(explained.text) as { request: { body: Body } }).request.body).toMatchObject({
    temperature: 0.1,
    top_k: 5,
  });
});

test("a mistake in the settings stops the start, with its place", async () => {
  const provider = upstream(answering);
  const refused: [object, string][] = [
    [{ body: { max_tokens: 5 } }, "max_tokens cannot be added to a request"],
    [{ set: { temprature: 1 } }, "did you mean temperature?"],
    [{ set: { temperature: 3 } }, "temperature must be a number between 0 and 2"],
    [{ force: { reasoningEffort: "very" } }, "reasoningEffort must be one of minimal"],
  ];
  for (const [settings, says] of refused)
    await expect(gateway(config(provider, settings))).rejects.toThrow(says);
});
