/** What operators see of batches, and cancel, over a real store. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { WorldBooks } from "../../identity/test/support/role-world.ts";
import { sqliteStore } from "../../../keeper/store/sqlite-store.ts";
import { IN_MEMORY } from "../../../keeper/settings.ts";
import type { KeeperHost } from "../../../keeper/seams.ts";
import type { SqlStore } from "../../../keeper/store/sql-store.ts";
import { tablesOf } from "../../../feature/feature.ts";
import { FEATURES } from "../../../../test/helpers/features.ts";
import type { AdminRequest } from "../../../admin/operation.ts";
import { admin } from "../admin.ts";
import type { Batch } from "../batch.ts";
import { BatchBook } from "../book.ts";
import type { BatchDetails, BatchPage } from "../contracts.ts";
import { createKeptId } from "../../../core/kept-id.ts";
import { batchesPart, runnerStop } from "../slots.ts";
import { progressWords } from "../words.ts";

let store: SqlStore;
let books: WorldBooks;
let book: BatchBook;
const stopped: string[] = [];
const noted: unknown[] = [];
const counted: unknown[] = [];

beforeAll(async () => {
  store = sqliteStore(IN_MEMORY, undefined, await tablesOf(FEATURES));
  await store.open();
  books = new WorldBooks(store);
  books.note = async (...entry: unknown[]) => void noted.push(entry);
  const write = <Value>(work: Parameters<typeof books.write<Value>>[0]) => books.write(work);
  const count = (...[{ name }, labels, amount]: Parameters<KeeperHost["count"]>) =>
    void counted.push([name, ...labels, amount]);
  book = new BatchBook({ read: (work) => books.read(work), write, count, left: async () => {} });
  batchesPart.set(books.offers, book);
  runnerStop.set(books.offers, (id) => void stopped.push(id));
});
afterAll(() => store.close());

function batch(at: number, path: string, more: Partial<Batch> = {}): Batch {
  return {
    ...{ id: createKeptId(at), path, endpoint: "/v1/chat/completions", state: "running", how: "run" },
    ...{
      window: 1,
      metadata: {},
      inputFile: createKeptId(at),
      lines: 5,
      done: 2,
      failed: 1,
      cancelled: 0,
      late: 0,
    },
    ...{ createdAt: at, deadline: at + 1, faults: [], cost: 7, held: 3 },
    usage: { input: 4, cached: 1, output: 2, reasoning: 0 },
    ...more,
  };
}

async function made(of: Batch): Promise<string> {
  await book.create({ batch: of, owner: { path: of.path, address: "127.0.0.1" }, most: 10_000, queued: 1e9 });
  return of.id;
}

async function ask<Answer>(id: string, path: string, more: { params?: object; query?: object } = {}) {
  const operation = admin.operations.find((one) => one.id === id)!;
  const caller = { actor: "me", address: "127.0.0.1", role: "admin", path };
  const given = { books, caller, params: {}, query: { limit: 100 }, ...more } as unknown as AdminRequest;
  const reply = (await operation.handle(given)) as { json: Answer };
  return reply.json;
}

const listed = async (path: string, query: object = {}) =>
  (await ask<BatchPage>("listBatches", path, { query: { limit: 100, ...query } })).batches.map(
    ({ id }) => id,
  );

test("an operator sees what lies below its path, by state and by pages", async () => {
  const eng = await made(batch(1_000, "/eng"));
  const search = await made(batch(2_000, "/eng/search", { state: "paused", reason: "The disk is full." }));
  const other = await made(batch(3_000, "/engine"));
  expect(await listed("/")).toEqual([other, search, eng]);
  expect(await listed("/eng")).toEqual([search, eng]);
  expect(await listed("/", { path: "/eng" })).toEqual([search, eng]);
  expect(await listed("/", { state: "paused" })).toEqual([search]);
  expect(await listed("/", { state: "done" })).toEqual([]);
  const page = await ask<BatchPage>("listBatches", "/", { query: { limit: 2 } });
  expect(page.next).toBe(search);
  expect(await listed("/", { limit: 2, after: page.next })).toEqual([eng]);
  const outside = await listed("/eng", { path: "/engine" }).catch((thrown: unknown) => thrown);
  expect(outside).toMatchObject({ status: 403, code: "not_permitted" });

  const shown = await ask<BatchDetails>("getBatch", "/eng", { params: { id: `msgbatch_${search}` } });
  expect(shown).toMatchObject({ state: "paused", reason: "The disk is full.", cost: 7, held: 3 });
  expect(shown.runner).toBeUndefined();
  await book.claim({ id: search, fence: 0 }, "node-1", 0, 9);
  const run = await ask<BatchDetails>("getBatch", "/eng", { params: { id: search } });
  expect(run.runner).toEqual({ node: "node-1", fence: 1, until: 9 });
  const foreign = ask("getBatch", "/eng", { params: { id: other } }).catch((thrown: unknown) => thrown);
  expect(await foreign).toMatchObject({ status: 404, code: "not_found" });
});

test("a cancellation reaches the runner and the audit log, and never another path", async () => {
  const id = await made(batch(4_000, "/ops"));
  const foreign = ask("cancelBatch", "/eng", { params: { id } }).catch((thrown: unknown) => thrown);
  expect(await foreign).toMatchObject({ status: 404 });
  expect([stopped, noted]).toEqual([[], []]);
  const cancelled = await ask<BatchDetails>("cancelBatch", "/", { params: { id: `batch_${id}` } });
  expect(cancelled.state).toBe("stopping");
  expect(stopped).toEqual([id]);
  const entry = [{ actor: "me", address: "127.0.0.1" }, "cancel", `batches/${id}`, { path: "/ops" }];
  expect(noted).toEqual([entry]);
  expect(await admin.placeOf!(books, `batches/${id}`)).toBe("/ops");
  const ended = await made(batch(5_000, "/ops", { state: "done" }));
  const late = ask("cancelBatch", "/", { params: { id: ended } }).catch((thrown: unknown) => thrown);
  expect(await late).toMatchObject({ status: 409, message: expect.stringContaining("has ended") });
});

test("a page of 1,000 batches is read at once, also where few have the state", async () => {
  const rare = await made(batch(10, "/many", { state: "checking" }));
  for (let at = 0; at < 1_000; at++) await made(batch(10_000 + at, "/many"));
  const began = performance.now();
  expect((await listed("/many")).length).toBe(100);
  expect(await listed("/many", { state: "waiting" })).toEqual([]);
  const ms = performance.now() - began;
  expect(ms).toBeLessThan(1_000);
  expect(await listed("/many", { state: "checking" })).toEqual([rare]);
}, 60_000);

test("lines and batches that end are counted once", async () => {
  const id = await made(batch(6_000, "/ops"));
  await book.claim({ id, fence: 0 }, "node-1", 0, 9);
  await book.progress(id, 1, { facts: { done: 4, failed: 1 } });
  await book.progress(id, 1, { facts: { done: 4, failed: 1 } });
  await book.progress(id, 0, { facts: { done: 5 } });
  await book.progress(id, 1, { to: "closing" });
  await book.progress(id, 1, { to: "done" });
  expect(counted).toEqual([
    ["weir_batch_lines_total", "done", 2],
    ["weir_batches_total", "done", 1],
  ]);
});

test("progress in words", () => {
  const counts = { lines: 9, done: 4, failed: 1, cancelled: 0, late: 2 };
  expect(progressWords(counts)).toBe("7 of 9, 1 failed, 2 late");
  expect(progressWords({ ...counts, lines: 0 })).toBe("not counted yet");
});
