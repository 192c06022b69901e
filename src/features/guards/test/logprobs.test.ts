/** Logprobs spell a text once more: those of a replaced part are gone, all others stay byte for byte. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import { type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import { eventsIn } from "../../../../test/helpers/guarded.ts";
import { json, sse, startUpstream, type Upstream } from "../../../../test/helpers/upstream.ts";
import { withoutSpelled } from "../flow/logprobs.ts";

setDefaultTimeout(60_000);

const EMAIL = "anna@example.com";
/** As a model cuts a text. */
const TOKENS = ["Write", " to", " anna", "@", "example", ".com", " or", " call", "."];
const TEXT = TOKENS.join("");
const entry = (token: string) => ({
  ...{ token, logprob: -0.25, bytes: [...Buffer.from(token)] },
  top_logprobs: [{ token, logprob: -0.25, bytes: null }],
});
const ENTRIES = TOKENS.map(entry);

let gateway: RunningGateway;
const upstreams: Record<string, Upstream> = {};

const chat = (delta: JsonObject, tokens: readonly string[]) => ({
  ...{ id: "c", object: "chat.completion.chunk", created: 1, model: "m" },
  choices: [
    { index: 0, ...delta, logprobs: { content: tokens.map(entry), refusal: null }, finish_reason: null },
  ],
});
const frame = (data: Json) => {
  const type = isObject(data) && typeof data.type === "string" ? `event: ${data.type}\n` : "";
  return `${type}data: ${JSON.stringify(data)}\n\n`;
};
const part = { type: "output_text", text: TEXT, annotations: [], logprobs: ENTRIES };
const item = { type: "message", id: "i", role: "assistant", status: "completed", content: [part] };
const response = {
  id: "r",
  object: "response",
  created_at: 1,
  model: "m",
  status: "completed",
  output: [item],
};
const chosen = TOKENS.map((token) => ({ token, logProbability: -0.1 }));
const candidate = {
  content: { role: "model", parts: [{ text: TEXT }] },
  finishReason: "STOP",
  logprobsResult: { chosenCandidates: chosen, topCandidates: chosen.map((one) => ({ candidates: [one] })) },
};

/** What providers answer, streamed and whole. */
const SAID: Record<string, { whole: JsonObject; stream: string[] }> = {
  "chat-completions": {
    whole: {
      ...chat({ message: { role: "assistant", content: TEXT } }, TOKENS),
      object: "chat.completion",
    },
    stream: [
      ...TOKENS.map((token) => frame(chat({ delta: { content: token } }, [token]))),
      frame({ ...chat({}, []), choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }),
      "data: [DONE]\n\n",
    ],
  },
  responses: {
    whole: response,
    stream: [
      ...TOKENS.map((delta, at) => ({
        ...{ type: "response.output_text.delta", item_id: "i", output_index: 0, content_index: 0 },
        ...{ sequence_number: at, delta, logprobs: [entry(delta)] },
      })),
      {
        ...{ type: "response.output_text.done", item_id: "i", output_index: 0, content_index: 0 },
        ...{ sequence_number: 90, text: TEXT, logprobs: ENTRIES },
      },
      { type: "response.completed", sequence_number: 91, response },
    ].map(frame),
  },
  gemini: { whole: { candidates: [candidate] }, stream: [frame({ candidates: [candidate] })] },
};

beforeAll(async () => {
  const providers = Object.entries(SAID).map(([format, { whole, stream }]) => {
    const upstream = startUpstream(({ body, path }) =>
      body.includes('"stream":true') || path.includes("stream") ? sse(stream) : json(whole),
    );
    upstreams[format] = upstream;
    return [
      `p-${format}`,
      { speaks: format, baseUrl: `${upstream.url}/v1`, apiKey: "k-1234567", models: ["m", "free"] },
    ];
  });
  gateway = await startGateway({
    config: {
      providers: Object.fromEntries(providers),
      guards: { pii: { find: ["email"], do: "replace", models: ["*/m"] } },
      log: { format: "json" },
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  for (const upstream of Object.values(upstreams)) upstream.stop();
});

const PATHS: Record<string, (model: string, stream: boolean) => [string, JsonObject]> = {
  "chat-completions": (model, stream) => [
    "/v1/chat/completions",
    { model, stream, logprobs: true, messages: [{ role: "user", content: "Hi" }] },
  ],
  responses: (model, stream) => [
    "/v1/responses",
    { model, stream, input: "Hi", include: ["message.output_text.logprobs"] },
  ],
  gemini: (model, stream) => [
    `/v1beta/models/${model}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    { contents: [{ parts: [{ text: "Hi" }] }], generationConfig: { responseLogprobs: true } },
  ],
};

async function ask(format: string, model: string, stream: boolean) {
  const [path, body] = PATHS[format]!(`p-${format}/${model}`, stream);
  const got = await fetch(gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return {
    text: await got.text(),
    warnings: got.headers.get("x-weir-warnings"),
    id: got.headers.get("x-request-id"),
  };
}

/** All tokens of logprobs, in their order. */
const tokensIn = (value: Json | undefined): string[] => {
  if (Array.isArray(value)) return value.flatMap(tokensIn);
  if (!isObject(value)) return [];
  const own = typeof value.token === "string" ? [value.token] : [];
  return [...own, ...Object.values(value).flatMap(tokensIn)];
};

describe("logprobs of a replaced part are gone, and the loss is noted", () => {
  for (const format of Object.keys(SAID))
    for (const stream of [false, true])
      test(`${format}${stream ? ", streamed" : ""}`, async () => {
        const { text, warnings, id } = await ask(format, "m", stream);
        expect(text).toContain("PII_EMAIL_");
        const tokens = tokensIn(eventsIn(text));
        expect(tokens).not.toContain("example");
        expect(tokens).not.toContain("@");
        for (const kept of ["Write", " or", " call"]) expect(tokens).toContain(kept);
        if (!stream) expect(warnings).toContain("dropped:logprobs");
        const isNoted = () => gateway.log.some((line) => line.includes(id!) && line.includes('"logprobs"'));
        for (let tries = 0; tries < 200 && !isNoted(); tries++) await Bun.sleep(10);
        expect(isNoted()).toBe(true);
      });
});

describe("without a replaced part they stay byte for byte", () => {
  for (const [format, { whole, stream: frames }] of Object.entries(SAID))
    for (const stream of [false, true])
      test(`${format}${stream ? ", streamed" : ""}`, async () => {
        const { text } = await ask(format, "free", stream);
        expect(tokensIn(eventsIn(text))).toEqual(tokensIn(stream ? eventsIn(frames.join("")) : whole));
      });
});

describe("a list of tokens", () => {
  const list = (...tokens: string[]) => tokens.map((token) => ({ token }));
  test("of another text stays", () => {
    const texts = [
      { before: "ab", after: "ab" },
      { before: EMAIL, after: "x" },
    ];
    expect(withoutSpelled(list("a", "b"), texts)).toBeUndefined();
  });
  test("that is no text of the answer goes as a whole", () => {
    expect(withoutSpelled(list("anna", "?"), [{ before: EMAIL, after: "x" }])).toEqual([]);
  });
});
