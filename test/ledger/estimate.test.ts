/** The estimate of what a request can use at most. */
import { expect, test } from "bun:test";
import type { Usage } from "../../src/core/events.ts";
import { parseJson, isObject } from "../../src/core/json.ts";
import { chatCompletionsFormat } from "../../src/formats/chat-completions/index.ts";
import { geminiFormat } from "../../src/formats/gemini/index.ts";
import { ollamaFormat } from "../../src/formats/ollama/index.ts";
import { messagesFormat } from "../../src/formats/messages/index.ts";
import { responsesFormat } from "../../src/formats/responses/index.ts";
import { sizeOf } from "../../src/gateway/request-size.ts";
import { scanBody } from "../../src/stream/scan.ts";
import { Tap } from "../../src/stream/tap.ts";
import {
  firstOutput,
  inputAtMost,
  nextOutput,
  outputAtMost,
  outputLimit,
} from "../../src/ledger/worker/estimate.ts";
import { DEFAULT_SETTINGS } from "../../src/ledger/worker/settings.ts";
import { RULE, SIZE } from "../helpers/ledger.ts";
import { answerBytes, haveRecordings, NO_RECORDINGS, recordings } from "../helpers/recordings.ts";
import { observeAnswer } from "../../src/gateway/lanes/observe-answer.ts";

if (!haveRecordings) console.log(NO_RECORDINGS);

const FORMATS = {
  chat: chatCompletionsFormat,
  messages: messagesFormat,
  responses: responsesFormat,
  gemini: geminiFormat,
};
type Api = keyof typeof FORMATS;
/** Those of which only the requests are read too. */
const CLIENTS = { ...FORMATS, ollama: ollamaFormat };

/** The size of a request as the gateway reads it. */
function measure(api: keyof typeof CLIENTS, body: unknown) {
  const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  const { members } = scanBody(bytes, 100);
  return sizeOf({ bytes, spanOf: (name) => members.get(name), format: CLIENTS[api] });
}

test("input is half of the bytes of text, with the frame, tools and media, within the model's window", () => {
  const size = { ...SIZE, textBytes: 1001 };
  expect(inputAtMost(size, RULE, 0, DEFAULT_SETTINGS)).toBe(501 + 64);
  expect(inputAtMost({ ...size, hasTools: true }, RULE, 10, DEFAULT_SETTINGS)).toBe(501 + 64 + 700 + 10);
  expect(inputAtMost({ ...size, hasServerTools: true }, RULE, 0, DEFAULT_SETTINGS)).toBe(501 + 64 + 50_000);
  expect(inputAtMost({ ...size, mediaTokens: 1600 }, { ...RULE, window: 2000 }, 0, DEFAULT_SETTINGS)).toBe(
    2000,
  );
});

test("output is the client's limit for each answer, else the model's, at most 32,000 tokens where none is known", () => {
  const without = { ...SIZE, maxTokens: undefined };
  expect(outputAtMost({ ...SIZE, choices: 3 }, RULE, DEFAULT_SETTINGS)).toBe(1350);
  expect(outputAtMost(without, RULE, DEFAULT_SETTINGS)).toBe(32_000);
  expect(outputAtMost(without, { ...RULE, maxOutput: 8192 }, DEFAULT_SETTINGS)).toBe(8192);
  expect(outputAtMost(without, { ...RULE, maxOutput: 128_000 }, DEFAULT_SETTINGS)).toBe(32_000);
  expect(outputAtMost({ ...SIZE, maxTokens: 1e9 }, { ...RULE, maxOutput: 8192 }, DEFAULT_SETTINGS)).toBe(
    8192,
  );
});

test("a stream holds its first 4,096 tokens, and 2,048 more when 1,024 are left", () => {
  expect(firstOutput(30_000, 1)).toBe(4096);
  expect(firstOutput(100, 1)).toBe(100);
  expect(outputLimit(4096, 30_000)).toBe((4096 - 1024) * 2);
  expect(nextOutput(4096, 30_000, 6145)).toBe(6144);
  expect(nextOutput(4096, 30_000, 40_000)).toBe(22_048);
  expect(outputLimit(30_000, 30_000)).toBe(Infinity);
});

test("the larger one counts of two limits of output tokens", () => {
  const messages = [{ role: "user", content: "hi" }];
  const both = { model: "m", max_completion_tokens: 10, max_tokens: 9000, messages };
  expect(measure("chat", both).maxTokens).toBe(9000);
  const contents = [{ parts: [{ text: "hi" }] }];
  const generationConfig = { maxOutputTokens: 10, max_output_tokens: 9000 };
  expect(measure("gemini", { contents, generationConfig }).maxTokens).toBe(9000);
});

test("the size of a request is read from its bytes in each format", () => {
  const image = `iVBORw0KGgo${"A".repeat(40_000)}`;
  const chat = measure("chat", {
    model: "m",
    n: 2,
    max_completion_tokens: 77,
    tools: [{ type: "function", function: { name: "f" } }],
    messages: [
      {
        role: "user",
        content: [{ type: "image_url", image_url: { url: `data:image/png;base64,${image}` } }],
      },
    ],
  });
  expect(chat).toMatchObject({
    maxTokens: 77,
    choices: 2,
    hasTools: true,
    hasServerTools: false,
    mediaTokens: 1600,
  });
  expect(chat.textBytes).toBeLessThan(400);
  const messages = measure("messages", {
    model: "m",
    max_tokens: 5,
    tools: [{ type: "web_search_20250305", name: "web_search" }],
    messages: [
      {
        role: "user",
        content: [
          {
            type: "document",
            source: { type: "base64", media_type: "application/pdf", data: "JVBER".repeat(8000) },
          },
        ],
      },
    ],
  });
  expect(messages).toMatchObject({ maxTokens: 5, hasServerTools: true, mediaTokens: 2000 });
  const gemini = measure("gemini", {
    contents: [{ role: "user", parts: [{ text: "hi" }] }],
    tools: [{ googleSearch: {} }],
    generationConfig: { maxOutputTokens: 9 },
  });
  expect(gemini).toMatchObject({ maxTokens: 9, hasServerTools: true });
  const ollama = measure("ollama", {
    messages: [{ role: "user", content: "hi", images: [image, image] }],
    options: { num_predict: 9 },
  });
  expect(ollama).toMatchObject({ maxTokens: 9, hasServerTools: false, mediaTokens: 3200 });
  expect(ollama.textBytes).toBeLessThan(200);
  const responses = measure("responses", {
    model: "m",
    input: "hi",
    max_output_tokens: 3,
    tools: [{ type: "web_search" }],
  });
  expect(responses).toMatchObject({ maxTokens: 3, hasTools: true, hasServerTools: true });
});

test("text that looks like media is counted as text", () => {
  const { textBytes, mediaTokens } = measure("chat", {
    messages: [
      { role: "user", content: `"data": "${"some text ".repeat(1000)}" ;base64, ${"x y ".repeat(1000)}` },
    ],
  });
  expect(mediaTokens).toBe(0);
  expect(textBytes).toBeGreaterThan(14_000);
});

interface Judged {
  covered: number;
  covered2: number;
  all: number;
}

/** What the provider counted of a recorded answer. */
function usageOf(api: Api, bytes: Buffer, streams: boolean): Usage | undefined {
  const { watch } = FORMATS[api].upstream;
  if (!streams) return observeAnswer(bytes, watch)?.usage;
  const tap = new Tap(watch);
  tap.push(bytes);
  tap.rest();
  return tap.seen.usage;
}

test.skipIf(!haveRecordings)(
  "the estimate covers the metered input of 97 % of the recordings at first contact, and of 99.5 % afterwards",
  () => {
    const judged: Judged = { covered: 0, covered2: 0, all: 0 };
    const margins = new Map<string, number>();
    const each = (visit: (target: string, estimate: number, actual: number) => void) => {
      for (const api of Object.keys(FORMATS) as Api[])
        for (const recording of recordings({ api })) {
          const { request, response } = recording;
          const body = request?.body ?? request?.body_text;
          if (body === undefined || response.status !== 200) continue;
          const parsed = typeof body === "string" ? parseJson(body) : body;
          if (!isObject(parsed) || "previous_response_id" in parsed) continue;
          let usage: Usage | undefined;
          try {
            usage = usageOf(api, answerBytes(recording), recording.framing === "sse");
          } catch {
            continue;
          }
          if (!usage) continue;
          const size = measure(api, parsed);
          const actual = usage.input + usage.cacheRead + usage.cacheWrite;
          if (actual === 0 || size.hasServerTools) continue;
          visit(
            `${recording.vendor}/${recording.model ?? ""}`,
            inputAtMost(size, undefined, 0, DEFAULT_SETTINGS),
            actual,
          );
        }
    };
    each((target, estimate, actual) => {
      judged.all++;
      const margin = margins.get(target) ?? 0;
      if (estimate + margin >= actual) judged.covered++;
      if (actual - estimate > margin) margins.set(target, actual - estimate);
    });
    each((target, estimate, actual) => {
      if (estimate + (margins.get(target) ?? 0) >= actual) judged.covered2++;
    });
    expect(judged.all).toBeGreaterThan(500);
    expect(judged.covered / judged.all).toBeGreaterThanOrEqual(0.97);
    expect(judged.covered2 / judged.all).toBeGreaterThanOrEqual(0.995);
  },
  60_000,
);
