/** Results of lines in the words of each vendor: the same content, bytes of the same format unchanged, and errors that say why. */
import { expect, test } from "bun:test";
import type { Anthropic } from "@anthropic-ai/sdk";
import { anthropicClient } from "../../../../test/helpers/sdk.ts";
import { anthropicBatch } from "../shapes/anthropic.ts";
import {
  anthropicResult,
  dialectOf,
  googleFileLine,
  googleResult,
  openaiResult,
  type ResultContext,
} from "../shapes/results.ts";
import { sampleBatch } from "./sample.ts";

const CHAT = "/v1/chat/completions";
const MESSAGES = "/v1/messages";
const GENERATE = "/v1beta/models/m:generateContent";

/** A translation that shows what it was asked. */
function inWords(endpoint: string): ResultContext {
  return {
    endpoint,
    translate: (body, from, to) =>
      from.includes("embed")
        ? undefined
        : Buffer.from(`{"was":${Buffer.from(body).toString()},"from":"${from}","to":"${to}"}`),
  };
}

const BODY = '{"n":1.00,"id":12345678901234567890,"text":"\\u00e9 \\"body\\":","b":{"response":1}}';
const lineOf = (body: string, status = 200) =>
  Buffer.from(
    `{"id":"batch_req_1","custom_id":"a\\u0022b","response":{"status_code":${status},"request_id":"req_1","body":${body}},"error":null}\n`,
  );
const lost = (code: string) =>
  Buffer.from(
    JSON.stringify({ id: "batch_req_1", custom_id: "a", response: null, error: { code, message: "Why." } }),
  );

test("an answer in the reader's own format is its exact bytes", () => {
  expect(anthropicResult(lineOf(BODY), inWords(MESSAGES))).toBe(
    `{"custom_id":"a\\"b","result":{"type":"succeeded","message":${BODY}}}`,
  );
  expect(googleResult(lineOf(BODY), inWords(GENERATE))).toBe(
    `{"response":${BODY},"metadata":{"key":"a\\"b"}}`,
  );
  expect(googleFileLine(lineOf(BODY), inWords(GENERATE))).toBe(`{"key":"a\\"b","response":${BODY}}`);
  const metadata = Buffer.from('{"key":"other", "n":1.0}');
  expect(googleResult(lineOf(BODY), inWords(GENERATE), metadata)).toBe(
    `{"response":${BODY},"metadata":{"key":"other", "n":1.0}}`,
  );
  expect(googleFileLine(lineOf(BODY), inWords(GENERATE), metadata)).toBe(
    `{"key":"a\\"b","response":${BODY},"metadata":{"key":"other", "n":1.0}}`,
  );
  const line = lineOf(BODY).toString().trimEnd();
  expect(openaiResult(lineOf(BODY), inWords(CHAT))).toBe(line);
  expect(openaiResult(lineOf(BODY), inWords("/v1/responses"))).toBe(line);
});

test("an answer in another format is translated, and the content is the same for all", () => {
  const translated = (from: string, to: string) => `{"was":${BODY},"from":"${from}","to":"${to}"}`;
  const google = "/v1beta/models/model:generateContent";
  for (const from of [CHAT, "/v1/responses", GENERATE])
    expect(anthropicResult(lineOf(BODY), inWords(from))).toContain(
      `"message":${translated(from, MESSAGES)}}`,
    );
  for (const from of [CHAT, MESSAGES])
    expect(googleResult(lineOf(BODY), inWords(from))).toContain(`"response":${translated(from, google)},`);
  for (const from of [MESSAGES, GENERATE])
    expect(openaiResult(lineOf(BODY), inWords(from))).toBe(
      `{"id":"batch_req_1","custom_id":"a\\"b","response":{"status_code":200,"request_id":"req_1","body":${translated(from, CHAT)}},"error":null}`,
    );
  expect([CHAT, MESSAGES, GENERATE, "/v1/embeddings", "/v1/models/e:embedContent"].map(dialectOf)).toEqual([
    "openai",
    "anthropic",
    "google",
    "openai",
    "google",
  ]);
});

test("an answer without a form in the reader's API says so", () => {
  const embeddings = inWords("/v1/embeddings");
  expect(JSON.parse(anthropicResult(lineOf(BODY), embeddings))).toMatchObject({
    result: {
      type: "errored",
      error: { error: { type: "invalid_request_error", message: expect.stringContaining("?as=line") } },
    },
  });
  expect(JSON.parse(googleResult(lineOf(BODY), embeddings))).toMatchObject({ error: { code: 3 } });
  expect(JSON.parse(openaiResult(lineOf(BODY), inWords("/v1/models/e:embedContent")))).toMatchObject({
    response: { status_code: 400, body: { error: { type: "invalid_request_error" } } },
  });
});

/** Code of a line without an answer, and what each vendor's clients see. */
const LOST: [code: string, anthropic: object, google: number][] = [
  ["batch_expired", { type: "expired" }, 4],
  ["batch_cancelled", { type: "canceled" }, 1],
  [
    "insufficient_quota",
    { type: "errored", error: { error: { type: "rate_limit_error", message: "Why." } } },
    8,
  ],
  ["guard_unavailable", { type: "errored", error: { error: { type: "overloaded_error" } } }, 14],
  ["upstream_lost", { type: "errored", error: { error: { type: "api_error" } } }, 13],
  ["unheard_of", { type: "errored", error: { error: { type: "api_error" } } }, 13],
];

for (const [code, anthropic, google] of LOST)
  test(`a line without an answer: ${code}`, () => {
    for (const endpoint of [CHAT, MESSAGES, GENERATE]) {
      const context = inWords(endpoint);
      const { result } = JSON.parse(anthropicResult(lost(code), context)) as {
        result: Anthropic.Messages.MessageBatchResult;
      };
      expect(result).toMatchObject(anthropic);
      if (result.type !== "errored") expect(Object.keys(result)).toEqual(["type"]);
      expect(JSON.parse(googleResult(lost(code), context))).toEqual({
        error: { code: google, message: "Why." },
        metadata: { key: "a" },
      });
      expect(JSON.parse(openaiResult(lost(code), context))).toEqual(JSON.parse(lost(code).toString()));
    }
  });

/** Refusals in the envelopes of all formats. */
const REFUSALS: Record<string, string> = {
  [CHAT]:
    '{"error":{"message":"Too long.","type":"invalid_request_error","param":null,"code":"context_length_exceeded"}}',
  [MESSAGES]:
    '{"type":"error","error":{"type":"invalid_request_error","message":"Too long."},"request_id":"req_9"}',
  [GENERATE]: '{"error":{"code":400,"message":"Too long.","status":"INVALID_ARGUMENT"}}',
};

for (const [endpoint, body] of Object.entries(REFUSALS))
  test(`a refusal of ${endpoint} keeps its status and its sentence for all readers`, () => {
    const context = inWords(endpoint);
    const line = lineOf(body, 400);
    const requestId = endpoint === MESSAGES ? "req_9" : "req_1";
    expect(JSON.parse(anthropicResult(line, context))).toEqual({
      custom_id: 'a"b',
      result: {
        type: "errored",
        error: {
          type: "error",
          error: { type: "invalid_request_error", message: "Too long." },
          request_id: requestId,
        },
      },
    });
    expect(JSON.parse(googleResult(line, context))).toMatchObject({
      error: { code: 3, message: "Too long." },
    });
    expect(JSON.parse(openaiResult(line, context))).toMatchObject({
      response: { status_code: 400, request_id: "req_1", body: { error: { message: "Too long." } } },
      error: null,
    });
  });

test("statuses have the words of each vendor, and a body that is no error has a sentence", () => {
  const words = (status: number) => {
    const line = lineOf('"garbage"', status);
    const anthropic = JSON.parse(anthropicResult(line, inWords(CHAT))) as {
      result: Anthropic.Messages.MessageBatchErroredResult;
    };
    const google = JSON.parse(googleResult(line, inWords(CHAT))) as {
      error: { code: number; message: string };
    };
    expect(google.error.message).toBe(`The provider answered with the status ${status}.`);
    return [anthropic.result.error.error.type as string, google.error.code];
  };
  expect([400, 401, 403, 404, 422, 429, 500, 502, 503, 529].map(words)).toEqual([
    ["invalid_request_error", 3],
    ["authentication_error", 16],
    ["permission_error", 7],
    ["not_found_error", 5],
    ["invalid_request_error", 3],
    ["rate_limit_error", 8],
    ["api_error", 13],
    ["api_error", 13],
    ["overloaded_error", 14],
    ["overloaded_error", 14],
  ]);
});

test("Anthropic's SDK reads the results by the address of the batch", async () => {
  const lines = [lineOf(BODY), lineOf(REFUSALS[CHAT]!, 400), lost("batch_expired"), lost("batch_cancelled")];
  const batch = sampleBatch({ state: "done", endedAt: sampleBatch().createdAt, lines: 4 });
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      if (!request.url.endsWith("/results"))
        return Response.json(anthropicBatch(batch, { url: new URL(request.url).origin, now: Date.now() }));
      const text = lines.map((line) => `${anthropicResult(line, inWords(CHAT))}\n`).join("");
      return new Response(text, { headers: { "content-type": "application/x-jsonl" } });
    },
  });
  try {
    const seen: string[] = [];
    for await (const { custom_id: id, result } of await anthropicClient(
      server.url.origin,
    ).messages.batches.results(`msgbatch_${batch.id}`))
      seen.push(`${id} ${result.type} ${result.type === "errored" ? result.error.error.message : ""}`.trim());
    expect(seen).toEqual(['a"b succeeded', 'a"b errored Too long.', "a expired", "a canceled"]);
  } finally {
    await server.stop(true);
  }
});

test("a stored line that is none is a failure of weir", () => {
  expect(() => anthropicResult(Buffer.from("x"), inWords(CHAT))).toThrow("no JSON object");
  expect(() => googleResult(Buffer.from("{}"), inWords(CHAT))).toThrow("no custom_id");
});
