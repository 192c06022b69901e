/** Batches that end before all of their lines have run, through a gateway: what clients of two vendors see of them. */
import { afterAll, afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { FEATURES } from "../../../../test/helpers/features.ts";
import { type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import { until } from "../../../../test/helpers/serving.ts";
import { json, startUpstream } from "../../../../test/helpers/upstream.ts";
import { createKeptId } from "../../../core/kept-id.ts";
import { tablesOf } from "../../../feature/feature.ts";
import { sqliteStore } from "../../../keeper/store/sqlite-store.ts";
import { WorldBooks } from "../../identity/test/support/role-world.ts";
import { BatchBook } from "../book.ts";
import { sampleBatch } from "./sample.ts";

setDefaultTimeout(120_000);

const CONCURRENCY = 4;

/** When the provider was asked for which line. Monotonic milliseconds. */
let asked: { readonly text: string; readonly at: number }[] = [];
let delay = 0;
const upstream = startUpstream(async ({ body }) => {
  const { messages } = JSON.parse(body.toString()) as { messages: { content: string }[] };
  asked.push({ text: messages.at(-1)!.content, at: performance.now() });
  await Bun.sleep(delay);
  return json({
    ...{ id: "c_1", object: "chat.completion", created: 1, model: "m" },
    choices: [{ index: 0, message: { role: "assistant", content: "So." }, finish_reason: "stop" }],
    usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
  });
});
const root = mkdtempSync(join(tmpdir(), "weir-endings-"));
const state = join(root, "state");
mkdirSync(state, { mode: 0o700 });

let gateway: RunningGateway;
beforeEach(async () => {
  asked = [];
  await started();
});
afterEach(() => gateway.stop());
afterAll(() => {
  upstream.stop();
  rmSync(root, { recursive: true, force: true });
});

async function started(): Promise<void> {
  gateway = await startGateway({
    env: { WEIR_STATE: state },
    config: {
      providers: {
        p: { speaks: "chat-completions", baseUrl: `${upstream.url}/v1`, apiKey: "k-1", models: ["m"] },
      },
      batches: { concurrency: CONCURRENCY, how: "run" },
      log: { format: "json" },
    },
  });
  await gateway.opened();
}

const openai = () => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "none", maxRetries: 0 });
const anthropic = () => new Anthropic({ baseURL: gateway.url, apiKey: "none", maxRetries: 0 });

async function uploaded(lines: number): Promise<string> {
  const texts = Array.from({ length: lines }, (_, at) => {
    const body = { model: "p/m", messages: [{ role: "user", content: `line ${at}` }] };
    return JSON.stringify({ custom_id: `l${at}`, method: "POST", url: "/v1/chat/completions", body });
  });
  const file = new File([texts.join("\n")], "in.jsonl");
  return (await openai().files.create({ file, purpose: "batch" })).id;
}

const ENDS = ["completed", "failed", "cancelled", "expired"];

async function ended(id: string): Promise<OpenAI.Batch> {
  let batch: OpenAI.Batch | undefined;
  const hasEnded = async () => {
    batch = await openai().batches.retrieve(id);
    return ENDS.includes(batch.status);
  };
  expect(await until(hasEnded, 60_000)).toBe(true);
  return batch!;
}

/** By line: the code or the status. @throws Error if a line has two results */
async function resultsOf({ output_file_id, error_file_id }: OpenAI.Batch): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const id of [output_file_id, error_file_id]) {
    if (!id) continue;
    const text = await (await openai().files.content(id)).text();
    for (const line of text.trimEnd().split("\n")) {
      const { custom_id, response, error } = JSON.parse(line) as {
        custom_id: string;
        response: { status_code: number } | null;
        error: { code: string } | null;
      };
      if (found.has(custom_id)) throw new Error(`${custom_id} has two results.`);
      found.set(custom_id, error?.code ?? String(response?.status_code));
    }
  }
  return found;
}

const count = (results: ReadonlyMap<string, string>, what: string) =>
  [...results.values()].filter((one) => one === what).length;

/** How many lines ended in which way, as Anthropic's SDK reads it. */
async function readByAnthropic(id: string): Promise<Record<string, number>> {
  const types: Record<string, number> = {};
  const results = await anthropic().messages.batches.results(id.replace("batch_", "msgbatch_"));
  for await (const { result } of results) types[result.type] = (types[result.type] ?? 0) + 1;
  return types;
}

test("cancelled at any moment: counts are right, results can be read, and calls stop", async () => {
  delay = 40;
  const seen: number[] = [];
  for (let turn = 0; turn < 10; turn++) {
    asked = [];
    const { id } = await openai().batches.create({
      ...{ input_file_id: await uploaded(60), endpoint: "/v1/chat/completions", completion_window: "24h" },
    });
    await Bun.sleep(Math.random() * 500);
    const { status } = await openai().batches.cancel(id);
    expect(["cancelling", "cancelled"]).toContain(status);
    const before = asked.length;
    const batch = await ended(id);
    const { total, completed, failed } = batch.request_counts!;
    // One that was cancelled while its input was checked has no lines yet.
    expect([batch.status, completed + failed, [0, 60].includes(total)]).toEqual(["cancelled", total, true]);
    // Lines that ran may end; those that had their places begin.
    expect(asked.length - before).toBeLessThanOrEqual(CONCURRENCY);
    const results = await resultsOf(batch);
    const found = [results.size, count(results, "200"), count(results, "batch_cancelled")];
    expect(found).toEqual([total, completed, failed]);
    expect(asked.length).toBe(completed);
    expect(await readByAnthropic(id)).toEqual({
      ...(completed > 0 && { succeeded: completed }),
      ...(failed > 0 && { canceled: failed }),
    });
    seen.push(completed);
  }
  // Some turns met the batch while it ran.
  expect(seen.some((completed) => completed > 0 && completed < 60)).toBe(true);
});

/** A batch whose window is shorter than clients may ask for. @returns its id */
async function insertedWith(input: string, window: number): Promise<string> {
  await gateway.stop();
  const store = sqliteStore(join(state, "weir.db"), undefined, await tablesOf(FEATURES));
  await store.open();
  const books = new WorldBooks(store);
  const book = new BatchBook({
    read: (work) => books.read(work),
    write: (work) => books.write(work),
    count: () => {},
    left: async () => {},
  });
  const createdAt = Date.now();
  const batch = {
    ...sampleBatch({ path: "/", lines: 0, inputFile: input.slice("file-".length), window, createdAt }),
    ...{ id: createKeptId(createdAt), deadline: createdAt + window },
  };
  await book.create({ batch, owner: { path: "/", address: "" }, most: 100, queued: Number.MAX_SAFE_INTEGER });
  await store.close();
  await started();
  return `batch_${batch.id}`;
}

test("a window that is over before the lines: results so far are kept, and the other lines are expired", async () => {
  delay = 400;
  const id = await insertedWith(await uploaded(200), 6_000);
  const batch = await ended(id);
  const { total, completed, failed } = batch.request_counts!;
  expect([batch.status, total, completed + failed]).toEqual(["expired", 200, 200]);
  expect(completed).toBeGreaterThan(0);
  const results = await resultsOf(batch);
  expect([results.size, count(results, "200"), count(results, "batch_expired")]).toEqual([
    200,
    completed,
    failed,
  ]);
  expect(asked.length).toBe(completed);
  expect(batch.expired_at).toBeGreaterThanOrEqual(batch.expires_at!);
  expect(await readByAnthropic(id)).toEqual({ succeeded: completed, expired: failed });
});
