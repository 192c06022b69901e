/** What weir asks batch APIs of vendors for: the same as their own SDKs, which types check, and what OpenAI's document permits. */
import { afterAll, beforeEach, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI, { toFile } from "openai";
import { haveDocument, judge, NO_DOCUMENT } from "../../../../test/formats/chat-completions/openapi.ts";
import { json, startUpstream } from "../../../../test/helpers/upstream.ts";
import type { Json } from "../../../core/json.ts";
import { AnthropicHost } from "../native/anthropic.ts";
import { GeminiHost } from "../native/gemini.ts";
import type { BatchHost, HostCall } from "../native/host.ts";
import { FileHost, OPENAI } from "../native/openai.ts";

if (!haveDocument) console.log(NO_DOCUMENT);

/** An answer that each of the vendors could have given to any of these requests. */
const host = startUpstream(({ path }) => {
  if (/content|results$/.test(path)) return { body: "" };
  return json({
    ...{ id: "b-1", object: "batch", type: "message_batch", name: "batches/b-1", data: [], operations: [] },
    ...{ status: "completed", processing_status: "ended", output_file_id: "file-2", has_more: false },
    ...{
      results_url: `${host.url}/v1/messages/batches/b-1/results`,
      metadata: { state: "BATCH_STATE_SUCCEEDED" },
    },
  });
});
afterAll(() => host.stop());
beforeEach(() => void host.requests.splice(0));

/** The requests since the last look: method and path, and the bodies, of a form its fields. */
function asked(): { line: string; body: unknown }[] {
  return host.requests.splice(0).map(({ method, path, headers, body }) => {
    const text = body.toString();
    const type = headers.get("content-type") ?? "";
    const parts = type.startsWith("multipart") ? partsIn(text, type) : text && (JSON.parse(text) as unknown);
    return { line: `${method} ${path}`, body: parts };
  });
}

/** Fields of a form by their names, in any order. */
function partsIn(text: string, type: string): Record<string, string> {
  const boundary = /boundary=(.+)/.exec(type)![1]!;
  const parts = text.split(`--${boundary}`).slice(1, -1);
  return Object.fromEntries(
    parts.map((part) => [/name="([^"]+)"/.exec(part)![1]!, part.slice(part.indexOf("\r\n\r\n") + 4, -2)]),
  );
}

function callOf(base: string, path: string): HostCall {
  return {
    ...{ model: "m", path, pause: async () => {} },
    ask: (method, at, body) =>
      fetch(host.url + base + at, {
        method,
        ...(body && { headers: { "content-type": body.type }, body: Buffer.concat(body.bytes) }),
      }),
  };
}

const sought = { mark: "mark-1", lines: 2, since: 0, known: new Set<string>() };
const bytes = (value: object) => Buffer.from(JSON.stringify(value));

/** All that weir does with a batch. */
async function useAll(batches: BatchHost, call: HostCall, bodies: readonly object[], id: string) {
  const lines = bodies.map((body, at) => ({ key: `w${at + 1}`, body: bytes(body) }));
  await batches.create(lines, "mark-1", call);
  await batches.find(sought, call);
  await batches.look(id, call);
  for await (const _ of batches.results(id, call));
  await batches.cancel(id, call);
  return asked();
}

test("OpenAI", async () => {
  const bodies = ["one", "two"].map((content) => ({ model: "m", messages: [{ role: "user", content }] }));
  const call = callOf("/v1", "/chat/completions");
  const weir = await useAll(new FileHost(OPENAI, []), call, bodies, "b-1");
  const [, created] = weir;
  if (haveDocument) {
    expect(judge("CreateBatchRequest", created!.body as Json)).toEqual([]);
    // The document does refuse something.
    expect(
      judge("CreateBatchRequest", { ...(created!.body as object), completion_window: "1h" }),
    ).not.toEqual([]);
    for (const body of bodies) expect(judge("CreateChatCompletionRequest", body)).toEqual([]);
  }
  const openai = new OpenAI({ baseURL: `${host.url}/v1`, apiKey: "k", maxRetries: 0 });
  const text = bodies
    .map((body, at) => ({ custom_id: `w${at + 1}`, method: "POST", url: "/v1/chat/completions", body }))
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("");
  await openai.files.create({
    ...{ file: await toFile(Buffer.from(text), "mark-1.jsonl"), purpose: "batch" },
    expires_after: { anchor: "created_at", seconds: 2_592_000 },
  });
  await openai.batches.create({
    ...{ input_file_id: "b-1", endpoint: "/v1/chat/completions", completion_window: "24h" },
    metadata: { weir_batch: "mark-1" },
  });
  await openai.batches.list({ limit: 100 });
  await openai.batches.retrieve("b-1");
  await openai.batches.retrieve("b-1");
  await openai.files.content("file-2");
  await openai.batches.cancel("b-1");
  expect(weir).toEqual(asked());
  expect(weir).toHaveLength(7);
});

test("Anthropic", async () => {
  const bodies = ["one", "two"].map((content) => ({
    ...{ model: "m", max_tokens: 9 },
    messages: [{ role: "user" as const, content }],
  }));
  const call = callOf("", "/v1/messages?beta=true");
  const weir = await useAll(new AnthropicHost(), call, bodies, "b-1");
  const anthropic = new Anthropic({ baseURL: host.url, apiKey: "k", maxRetries: 0 });
  const { batches } = anthropic.messages;
  const ids = ["w1-mark-1", "w2"];
  await batches.create({ requests: bodies.map((params, at) => ({ custom_id: ids[at]!, params })) });
  await batches.list({ limit: 100 });
  await batches.retrieve("b-1");
  for await (const _ of await batches.results("b-1"));
  await batches.cancel("b-1");
  // The SDK looks once more before it reads results.
  const sdk = asked().filter(({ line }, at, all) => line !== all[at - 1]?.line);
  expect(weir).toEqual(sdk);
  expect(weir).toHaveLength(5);
  // The vendor's rule for ids.
  for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
});

test("Google", async () => {
  const contents = ["one", "two"].map((text) => [{ role: "user", parts: [{ text }] }]);
  const call = callOf("/v1beta", "/models/m:generateContent");
  const weir = await useAll(
    new GeminiHost(),
    call,
    contents.map((one) => ({ contents: one })),
    "batches/b-1",
  );
  const google = new GoogleGenAI({ apiKey: "k", httpOptions: { baseUrl: host.url, apiVersion: "v1beta" } });
  await google.batches.create({
    model: "m",
    src: contents.map((one, at) => ({ contents: one, metadata: { key: `w${at + 1}` } })),
    config: { displayName: "weir-mark-1" },
  });
  await google.batches.list({ config: { pageSize: 100 } });
  await google.batches.get({ name: "batches/b-1" });
  await google.batches.get({ name: "batches/b-1" });
  await google.batches.cancel({ name: "batches/b-1" });
  expect(weir).toEqual(asked());
  expect(weir).toHaveLength(5);
});
