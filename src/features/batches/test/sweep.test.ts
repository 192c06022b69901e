/** Batches that ended long ago: 1,000 of them in a store, some of which are removed while clients read pages. */
import { afterAll, beforeAll, expect, onTestFinished, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI from "openai";
import { FEATURES } from "../../../../test/helpers/features.ts";
import { startGateway } from "../../../../test/helpers/gateway.ts";
import { createKeptId } from "../../../core/kept-id.ts";
import { tablesOf } from "../../../feature/feature.ts";
import { sqliteStore } from "../../../keeper/store/sqlite-store.ts";
import type { SqlStore } from "../../../keeper/store/sql-store.ts";
import { WorldBooks } from "../../identity/test/support/role-world.ts";
import type { Batch } from "../batch.ts";
import { BatchBook } from "../book.ts";
import { Sweep } from "../sweep.ts";
import { sampleBatch } from "./sample.ts";

setDefaultTimeout(120_000);

const DAY = 24 * 3_600_000;
const BATCHES = 1_000;
const LINES = 10;
/** A page in 50 ms, with ten times that for a busy machine. */
const PAGE_MS = 500;
const SEER = { path: "/", sharesPath: true };

const root = mkdtempSync(join(tmpdir(), "weir-sweep-"));
const state = join(root, "state");
let store: SqlStore;
let books: WorldBooks;
let book: BatchBook;
/** Ids in the order of creation: 600 that ended 100 days ago, 200 that ended yesterday, and 200 that run. */
const ids = { old: [] as string[], recent: [] as string[], open: [] as string[] };

beforeAll(async () => {
  mkdirSync(state, { mode: 0o700 });
  await opened();
  for (let at = 0; at < BATCHES; at++) {
    const kind = at < 600 ? "old" : at < 800 ? "recent" : "open";
    const endedAt = kind === "open" ? undefined : Date.now() - (kind === "old" ? 100 : 1) * DAY;
    ids[kind].push(await made((endedAt ?? Date.now()) - 1_000 + at, endedAt));
  }
});
afterAll(async () => {
  await store.close();
  rmSync(root, { recursive: true, force: true });
});

async function opened(): Promise<void> {
  store = sqliteStore(join(state, "weir.db"), undefined, await tablesOf(FEATURES));
  await store.open();
  books = new WorldBooks(store);
  book = new BatchBook({ ...access(), count: () => {}, left: async () => {} });
}

const access = () => ({
  read: <Value>(work: Parameters<typeof books.read<Value>>[0]) => books.read(work),
  write: <Value>(work: Parameters<typeof books.write<Value>>[0]) => books.write(work),
});

let calls = 0;
async function made(createdAt: number, endedAt?: number): Promise<string> {
  const ended = { state: "done", done: LINES, endedAt, outputFile: createKeptId(createdAt) } as const;
  const batch: Batch = {
    ...sampleBatch({ lines: LINES, createdAt, deadline: createdAt + 30 * DAY, path: "/" }),
    ...(endedAt === undefined ? { state: "running" } : ended),
    id: createKeptId(createdAt),
  };
  await book.create({
    batch,
    owner: { path: "/", address: "" },
    most: BATCHES,
    queued: Number.MAX_SAFE_INTEGER,
  });
  const rows = Array.from({ length: LINES }, (_, line) => [++calls, batch.id, line + 1, 1, 7, "{}"]);
  const columns = ["number", "batch", "line", "attempt", "cost", "usage"];
  await books.write(async (sql) => {
    await sql.run("UPDATE batches SET ended = $1, lease = $2 WHERE id = $3", [
      ...[batch.endedAt ?? null, endedAt === undefined ? Date.now() + DAY : 0, batch.id],
    ]);
    await sql.insert("batches_calls", columns, rows);
  });
  return batch.id;
}

const sweepOf = (folders: readonly string[] = []) => {
  const reported: string[] = [];
  const host = { ...access(), report: (sentence: string) => void reported.push(sentence) };
  const sweep = new Sweep({ host, folders: () => folders, now: Date.now });
  return { sweep, reported };
};

/** All ids by pages of 100, the newest first, and the longest time of a page. */
async function pages(): Promise<{ found: string[]; longest: number }> {
  const found: string[] = [];
  let longest = 0;
  for (;;) {
    const began = performance.now();
    const after = found.at(-1);
    const answer = await book.list(SEER, { limit: 100, ...(after !== undefined && { after }) });
    longest = Math.max(longest, performance.now() - began);
    if (!("batches" in answer)) throw new Error("no list");
    found.push(...answer.batches.map(({ id }) => id));
    if (!answer.hasMore) return { found, longest };
  }
}

test("a client of OpenAI reads pages of 1,000 batches at once", async () => {
  await store.close();
  try {
    const gateway = await startGateway({ env: { WEIR_STATE: state } });
    onTestFinished(() => gateway.stop());
    await gateway.opened();
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "none", maxRetries: 0 });
    await client.batches.list();
    const found: string[] = [];
    let longest = 0;
    let began = performance.now();
    for (let page = await client.batches.list({ limit: 100 }); ; page = await page.getNextPage()) {
      longest = Math.max(longest, performance.now() - began);
      found.push(...page.data.map(({ id }) => id.slice("batch_".length)));
      if (!page.hasNextPage()) break;
      began = performance.now();
    }
    expect(found).toEqual([...ids.old, ...ids.recent, ...ids.open].toReversed());
    expect(longest).toBeLessThan(PAGE_MS);
    await gateway.stop();
  } finally {
    await opened();
  }
});

test("of batches that ended 90 days ago nothing stays, and all others are as they were", async () => {
  expect((await pages()).found.length).toBe(BATCHES);
  const kept = await books.read((sql) => sql.all("SELECT * FROM batches WHERE ended IS NULL ORDER BY id"));
  const { sweep, reported } = sweepOf();
  let isRunning = true;
  const end = sweep.run().finally(() => (isRunning = false));
  // One that runs is not begun once more.
  void sweep.run();
  let longest = 0;
  let read = 0;
  for (; isRunning; read++) {
    longest = Math.max(longest, (await pages()).longest);
    await Bun.sleep(1);
  }
  await end;
  expect([read > 0, longest < PAGE_MS, reported]).toEqual([true, true, []]);
  expect((await pages()).found).toEqual([...ids.recent, ...ids.open].toReversed());
  const rows = await books.read((sql) =>
    sql.all<{ batch: string; lines: number }>(
      "SELECT batch, COUNT(*) AS lines FROM batches_calls GROUP BY batch",
    ),
  );
  expect(rows.map(({ batch }) => batch).sort()).toEqual([...ids.recent, ...ids.open].sort());
  expect(rows.every(({ lines }) => Number(lines) === LINES)).toBe(true);
  expect(await books.read((sql) => sql.all("SELECT * FROM batches WHERE ended IS NULL ORDER BY id"))).toEqual(
    kept,
  );
});

test("journals of batches that have ended are removed, and no other folder", async () => {
  const folder = join(root, "journals");
  const [just, unknown] = [await made(Date.now() - 1_000, Date.now()), createKeptId(1)];
  const stay = [ids.open[0]!, just, unknown, "something"];
  for (const name of [...stay, ids.recent[0]!]) mkdirSync(join(folder, name, "x"), { recursive: true });
  const { sweep, reported } = sweepOf([join(root, "none"), folder]);
  await sweep.run();
  expect([readdirSync(folder).sort(), reported]).toEqual([stay.sort(), []]);
});

test("a store that is away is a sentence, and the next sweep goes on", async () => {
  const reported: string[] = [];
  let isAway = true;
  const read = <Value>(work: Parameters<typeof books.read<Value>>[0]) => {
    if (isAway) throw new Error("the store is away");
    return books.read(work);
  };
  const host = { ...access(), read, report: (sentence: string) => void reported.push(sentence) };
  const sweep = new Sweep({ host, folders: () => [], now: () => Date.now() + 200 * DAY });
  await sweep.run();
  expect(reported).toEqual(["batches: what is old stays until the next look: the store is away"]);
  isAway = false;
  await sweep.run();
  expect([reported.length, (await pages()).found]).toEqual([1, ids.open.toReversed()]);
});
