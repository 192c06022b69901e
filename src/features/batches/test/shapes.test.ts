/** Batches in the shapes of three vendors: their SDKs read them, OpenAI's document accepts them, and all say the same. */
import { afterAll, expect, test } from "bun:test";
import { type BatchJob, GoogleGenAI, JobState } from "@google/genai";
import type { Anthropic } from "@anthropic-ai/sdk";
import type OpenAI from "openai";
import { judge, NO_DOCUMENT, haveDocument } from "../../../../test/formats/chat-completions/openapi.ts";
import { anthropicClient, openaiClient } from "../../../../test/helpers/sdk.ts";
import type { Json } from "../../../core/json.ts";
import { type Batch, counted, moved, type State } from "../batch.ts";
import { anthropicBatch, anthropicDeleted, anthropicList } from "../shapes/anthropic.ts";
import { googleList, googleOperation, googleOperationText } from "../shapes/google.ts";
import { createKeptId } from "../../../core/kept-id.ts";
import { batchIdFor, batchIdIn, type Dialect, fileIdFor, fileIdIn } from "../shapes/ids.ts";
import { openaiBatch, openaiList, writeDollars, writeWindow } from "../shapes/openai.ts";
import { readListPage } from "../shapes/pages.ts";
import { sampleBatch } from "./sample.ts";

const START = sampleBatch().createdAt;
const AFTER = (seconds: number) => START + seconds * 1000;
const VIEW = { url: "https://weir.example", now: AFTER(1000) };

const waiting = moved(sampleBatch({ model: "gpt-5", name: "in.jsonl" }), "waiting", AFTER(1));
const running = counted(moved(waiting, "running", AFTER(2)), "done");
const closing = moved(counted(counted(running, "done"), "failed"), "closing", AFTER(3));
const stopping = moved(running, "stopping", AFTER(4));

const BATCHES: Record<State, Batch> = {
  checking: sampleBatch({ metadata: { a: "b" } }),
  waiting,
  running,
  closing,
  stopping,
  paused: moved(running, "paused", AFTER(5), "The disk is full."),
  done: {
    ...moved(closing, "done", AFTER(6)),
    outputFile: createKeptId(AFTER(6)),
    errorFile: createKeptId(AFTER(6)),
    usage: { input: 100, cached: 60, output: 50, reasoning: 20 },
    cost: 4_120_000,
  },
  refused: {
    ...moved(sampleBatch(), "refused", AFTER(7), "Two of its lines are wrong."),
    faults: [
      { code: "invalid_json_line", line: 2, message: "The line is blank." },
      { code: "empty_file", message: "The input has no lines." },
    ],
  },
  stopped: moved(counted(stopping, "cancelled", 2), "stopped", AFTER(8)),
  late: moved(moved(counted(running, "late", 2), "closing", AFTER(9)), "late", AFTER(10)),
};

/** Appendix B: what each client sees of a state. */
const SEEN: Record<
  State,
  [OpenAI.Batch["status"], Anthropic.Messages.MessageBatch["processing_status"], JobState]
> = {
  checking: ["validating", "in_progress", JobState.JOB_STATE_PENDING],
  waiting: ["in_progress", "in_progress", JobState.JOB_STATE_PENDING],
  running: ["in_progress", "in_progress", JobState.JOB_STATE_RUNNING],
  closing: ["finalizing", "in_progress", JobState.JOB_STATE_RUNNING],
  stopping: ["cancelling", "canceling", JobState.JOB_STATE_RUNNING],
  paused: ["in_progress", "in_progress", JobState.JOB_STATE_RUNNING],
  done: ["completed", "ended", JobState.JOB_STATE_SUCCEEDED],
  refused: ["failed", "ended", JobState.JOB_STATE_FAILED],
  stopped: ["cancelled", "ended", JobState.JOB_STATE_CANCELLED],
  late: ["expired", "ended", JobState.JOB_STATE_EXPIRED],
};

/** The SDKs' types leave `null` out where the vendor sends it. */
type WithoutNull<T> = T extends (infer Item)[]
  ? WithoutNull<Item>[]
  : T extends object
    ? { [Name in keyof T]: WithoutNull<Exclude<T[Name], null>> }
    : T;

function withoutNull<T>(value: T): WithoutNull<T> {
  const replacer = (_: string, one: unknown) => (one === null ? undefined : one);
  return JSON.parse(JSON.stringify(value, replacer)) as WithoutNull<T>;
}

// The compiler judges these.
withoutNull(openaiBatch(running)) satisfies OpenAI.Batch;
anthropicBatch(running, VIEW) satisfies Anthropic.Messages.MessageBatch;
anthropicDeleted(running) satisfies Anthropic.Messages.DeletedMessageBatch;

/** Serves every batch by its id, with the shapes under test. */
const all = Object.values(BATCHES).map((batch, at) => ({ ...batch, id: createKeptId(START + at) }));
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch(request) {
    const { pathname } = new URL(request.url);
    const batch = all.find(({ id }) => pathname.includes(id));
    const isGoogle = request.headers.has("x-goog-api-key");
    if (pathname.startsWith("/v1/messages"))
      return Response.json(batch ? anthropicBatch(batch, VIEW) : anthropicList(all, false, VIEW));
    if (isGoogle) return Response.json(batch ? googleOperation(batch) : googleList(all, false));
    return Response.json(batch ? openaiBatch(batch) : openaiList(all, false));
  },
});
const url = server.url.origin;
const google = new GoogleGenAI({ apiKey: "none-needed", httpOptions: { baseUrl: url } });
afterAll(() => server.stop(true));

for (const [at, state] of (Object.keys(BATCHES) as State[]).entries())
  test(`the SDKs read a batch that is ${state}`, async () => {
    const { id } = all[at]!;
    const [status, processing, job] = SEEN[state];
    expect((await openaiClient(url).batches.retrieve(batchIdFor("openai", id))).status).toBe(status);
    const asked = await anthropicClient(url).messages.batches.retrieve(batchIdFor("anthropic", id));
    expect(asked.processing_status).toBe(processing);
    const read: BatchJob = await google.batches.get({ name: batchIdFor("google", id) });
    expect([read.name, read.state]).toEqual([`batches/${id}`, job]);
    expect(new Date(read.createTime!).getTime()).toBe(START);
  });

test("the SDKs read lists", async () => {
  const ids = all.map(({ id }) => id);
  const found: Record<Dialect, string[]> = { openai: [], anthropic: [], google: [] };
  for await (const { id } of openaiClient(url).batches.list()) found.openai.push(batchIdIn(id)!);
  for await (const { id } of anthropicClient(url).messages.batches.list())
    found.anthropic.push(batchIdIn(id)!);
  for await (const { name } of await google.batches.list()) found.google.push(batchIdIn(name!)!);
  expect(found).toEqual({ openai: ids, anthropic: ids, google: ids });
  expect(openaiList([], false)).toEqual({ object: "list", data: [], has_more: false });
  expect(anthropicList([], false, VIEW)).toEqual({
    data: [],
    has_more: false,
    first_id: null,
    last_id: null,
  });
  expect(googleList(all.slice(0, 2), true).nextPageToken).toBe(all[1]!.id);
});

test("OpenAI's document accepts every object and list", () => {
  if (!haveDocument) return console.log(NO_DOCUMENT);
  for (const batch of all)
    expect(judge("Batch", withoutNull(openaiBatch(batch)) as unknown as Json)).toEqual([]);
  expect(judge("ListBatchesResponse", withoutNull(openaiList(all, true)) as unknown as Json)).toEqual([]);
  // The judge can refuse.
  expect(
    judge("Batch", { ...(withoutNull(openaiBatch(running)) as object), status: "paused" } as unknown as Json),
  ).not.toEqual([]);
});

test("a new batch is the one of the contract", () => {
  expect(openaiBatch({ ...BATCHES.checking, held: 4_120_000 })).toEqual({
    ...{
      id: "batch_01je8z6v3kq5x7n2m4p9r1s0tw",
      object: "batch",
      endpoint: "/v1/chat/completions",
      errors: null,
    },
    ...{ input_file_id: "file-01jd8z6v3kq5x7n2m4p9r1s0tw", completion_window: "24h", status: "validating" },
    ...{ output_file_id: null, error_file_id: null, created_at: 1795376322, in_progress_at: null },
    ...{ expires_at: 1795462722, finalizing_at: null, completed_at: null, failed_at: null, expired_at: null },
    ...{ cancelling_at: null, cancelled_at: null, request_counts: { total: 0, completed: 0, failed: 0 } },
    metadata: { a: "b" },
    weir: { how: "run", held: "0.00412", cost: "0", provider: null },
  });
});

test("OpenAI's clients see times, counts, usage, faults and money", () => {
  expect(openaiBatch(BATCHES.done, { running: 1, retried: 2, provider: "groq" })).toMatchObject({
    ...{ in_progress_at: 1795376323, finalizing_at: 1795376325, completed_at: 1795376328, expired_at: null },
    output_file_id: fileIdFor("openai", BATCHES.done.outputFile!),
    request_counts: { total: 3, completed: 2, failed: 1 },
    usage: {
      ...{ input_tokens: 100, input_tokens_details: { cached_tokens: 60 }, output_tokens: 50 },
      ...{ output_tokens_details: { reasoning_tokens: 20 }, total_tokens: 150 },
    },
    metadata: null,
    weir: { cost: "0.00412", lines: { running: 1, retried: 2 }, provider: "groq" },
  });
  expect(openaiBatch(BATCHES.stopped)).toMatchObject({
    cancelling_at: 1795376326,
    cancelled_at: 1795376330,
    completed_at: null,
  });
  expect(openaiBatch(BATCHES.late)).toMatchObject({
    expired_at: 1795376332,
    completed_at: null,
    request_counts: { total: 3, completed: 1, failed: 2 },
  });
  expect(openaiBatch(BATCHES.refused)).toMatchObject({
    failed_at: 1795376329,
    errors: {
      data: [
        { code: "invalid_json_line", line: 2, message: "The line is blank.", param: null },
        { code: "empty_file", line: null, message: "The input has no lines.", param: null },
      ],
    },
  });
  expect(openaiBatch({ ...BATCHES.refused, faults: [] }).errors?.data).toEqual([
    { code: "batch_refused", message: "Two of its lines are wrong.", line: null, param: null },
  ]);
  expect(openaiBatch(BATCHES.paused).weir).toMatchObject({ paused: "The disk is full." });
  const pausedAgain = moved(stopping, "paused", AFTER(9), "The store is absent.");
  expect(openaiBatch(pausedAgain).status).toBe("cancelling");
});

test("Anthropic's clients see counts at the end only, and results until they are deleted", () => {
  const counts = (batch: Batch) => anthropicBatch(batch, VIEW).request_counts;
  const none = { processing: 0, succeeded: 0, errored: 0, canceled: 0, expired: 0 };
  for (const state of ["waiting", "running", "closing", "stopping", "paused"] as const) {
    expect(counts(BATCHES[state])).toEqual({ ...none, processing: 3 });
    expect(anthropicBatch(BATCHES[state], VIEW).results_url).toBeNull();
  }
  expect(counts(BATCHES.done)).toEqual({ ...none, succeeded: 2, errored: 1 });
  expect(counts(BATCHES.stopped)).toEqual({ ...none, succeeded: 1, canceled: 2 });
  expect(counts(BATCHES.late)).toEqual({ ...none, succeeded: 1, expired: 2 });
  expect(counts(BATCHES.refused)).toEqual({ ...none, errored: 3 });
  const ended = { ...BATCHES.done, expiresAt: AFTER(2000) };
  expect(anthropicBatch(ended, VIEW)).toMatchObject({
    results_url: `https://weir.example/v1/messages/batches/msgbatch_${ended.id}/results`,
    archived_at: null,
    created_at: "2026-11-22T19:38:42.250Z",
    ended_at: "2026-11-22T19:38:48.250Z",
    expires_at: "2026-11-23T19:38:42.250Z",
  });
  expect(anthropicBatch(ended, { ...VIEW, now: AFTER(2000) })).toMatchObject({
    results_url: null,
    archived_at: "2026-11-22T20:12:02.250Z",
  });
  expect(anthropicBatch(BATCHES.stopping, VIEW).cancel_initiated_at).toBe("2026-11-22T19:38:46.250Z");
});

test("Google's clients see the operation, its statistics, results or the reason of a refusal", async () => {
  expect(googleOperation(BATCHES.done)).toEqual({
    name: `batches/${BATCHES.done.id}`,
    metadata: {
      "@type": "type.googleapis.com/google.ai.generativelanguage.v1.GenerateContentBatch",
      ...{ model: "models/gpt-5", displayName: "in.jsonl", state: "BATCH_STATE_SUCCEEDED" },
      ...{
        createTime: "2026-11-22T19:38:42.250Z",
        updateTime: "2026-11-22T19:38:48.250Z",
        endTime: "2026-11-22T19:38:48.250Z",
      },
      batchStats: { requestCount: "3", successfulRequestCount: "2", failedRequestCount: "1" },
      output: { inlinedResponses: { inlinedResponses: [] } },
    },
    done: true,
  });
  const running = googleOperation(BATCHES.running);
  expect(running).toMatchObject({ done: false, metadata: { batchStats: { pendingRequestCount: "2" } } });
  expect(running.metadata).not.toHaveProperty("output");
  expect(googleOperation(BATCHES.refused)).toMatchObject({
    error: { code: 9, message: "Two of its lines are wrong." },
  });
  const lines = { ...BATCHES.done, endpoint: "/v1beta/models/m:generateContent" };
  expect(googleOperation(lines).metadata).toMatchObject({
    output: { responsesFile: `files/${BATCHES.done.outputFile}` },
  });
  expect(googleOperation({ ...lines, isInline: true }).metadata).toMatchObject({
    output: { inlinedResponses: { inlinedResponses: [] } },
  });
  const embedded = { ...BATCHES.done, endpoint: "/v1beta/models/e:embedContent", isInline: true as const };
  for (const [batch, results] of [
    [{ ...BATCHES.done, name: '"inlinedResponses":[]' }, ['{"a":1.0}', '{"b":2}']],
    [embedded, []],
    [embedded, ["{}"]],
    [BATCHES.running, ["{}"]],
  ] as const) {
    let text = "";
    for await (const piece of googleOperationText(
      batch,
      (async function* () {
        yield* results;
      })(),
    ))
      text += piece;
    const operation = JSON.parse(text) as ReturnType<typeof googleOperation> & {
      metadata: { output?: Record<string, { inlinedResponses: Json[] }> };
    };
    const list = Object.values(operation.metadata.output ?? {})[0]?.inlinedResponses;
    expect(list).toEqual(
      batch === BATCHES.running ? undefined : results.map((one) => JSON.parse(one) as Json),
    );
  }
});

test("ids go from one dialect to the other and back, and other texts are none", () => {
  const id = createKeptId(START);
  expect(id).toMatch(/^[0-9a-hjkmnp-tv-z]{26}$/);
  expect(new Set(Array.from({ length: 1000 }, () => createKeptId(START))).size).toBe(1000);
  expect(createKeptId(START) < createKeptId(START + 1)).toBe(true);
  for (const dialect of ["openai", "anthropic", "google"] as const) {
    expect(batchIdIn(batchIdFor(dialect, id))).toBe(id);
    expect(fileIdIn(fileIdFor(dialect, id))).toBe(id);
  }
  expect([batchIdIn(id), fileIdIn(id)]).toEqual([id, id]);
  const others = [
    "",
    "batch_",
    `batch-${id}`,
    `file-${id}`,
    `batch_${id}x`,
    `batch_${id.slice(1)}`,
    `x${id}`,
    `batch_${id.toUpperCase()}`,
    `batch_batch_${id}`,
    `batch_${id}\n`,
    `batches/../${id}`,
  ];
  expect(others.map(batchIdIn)).toEqual(others.map(() => undefined));
  expect(fileIdIn(`batch_${id}`)).toBeUndefined();
});

test("a page is read from the query of each dialect", () => {
  const read = (dialect: Dialect, query: string) => readListPage(dialect, new URLSearchParams(query));
  const id = createKeptId(START);
  expect(read("openai", "")).toEqual({ limit: 20 });
  expect(read("openai", `limit=100&after=batch_${id}`)).toEqual({ limit: 100, after: id });
  expect(read("anthropic", `limit=1&before_id=msgbatch_${id}`)).toEqual({ limit: 1, before: id });
  expect(read("google", `pageSize=2&pageToken=${id}`)).toEqual({ limit: 2, after: id });
  expect(read("google", "pageSize=0")).toEqual({ limit: 50 });
  expect(read("google", "pageSize=99999")).toEqual({ limit: 1000 });
  for (const [dialect, query, param] of [
    ["openai", "limit=0", "limit"],
    ["openai", "limit=101", "limit"],
    ["openai", "limit=x", "limit"],
    ["openai", "after=file-x", "after"],
    ["google", "pageSize=-1", "pageSize"],
    ["google", "pageToken=x", "pageToken"],
    ["anthropic", `after_id=${id}&before_id=${id}`, "before_id"],
  ] as const)
    expect(() => read(dialect, query)).toThrow(
      expect.objectContaining({ status: 400, param, code: "invalid_value" }),
    );
});

test("money and windows are exact", () => {
  expect([0, 1, 4_120_000, 1_000_000_000, 12_345_678_901, -5].map(writeDollars)).toEqual([
    "0",
    "0.000000001",
    "0.00412",
    "1",
    "12.345678901",
    "-0.000000005",
  ]);
  expect([86_400_000, 5_400_000, 2000, 1500].map(writeWindow)).toEqual(["24h", "90m", "2s", "2s"]);
});
