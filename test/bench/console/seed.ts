/**
 * Makes a store with millions of calls, to measure the pages of the console on: one day through the store as a gateway writes it,
 * and earlier days as copies of its rows. Not part of any check: ten million calls take some minutes and 2 GB.
 *
 *     bun test/bench/console/seed.ts FOLDER [CALLS]
 */
import { Database } from "bun:sqlite";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { sqliteStore } from "../../../src/keeper/store/sqlite-store.ts";
import { digestOf } from "../../../src/ledger/keys/form.ts";
import { sessionHash } from "../../../src/ledger/session-hash.ts";
import type { AttemptRecord, CallRecord } from "../../../src/ledger/record.ts";
import { addUp } from "../../../src/keeper/record/roll-ups.ts";
import { attempt, batch, budget, commit, key, rule } from "../../keeper/books/make.ts";

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const DAYS = 30;
const KEYS = 400;
const MODELS = 12;
const ACTOR = { actor: "cli" };

/** @param calls in all */
export async function seed(folder: string, calls: number): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, "weir.db");
  const now = Date.now();
  await seedDay(path, now, Math.ceil(calls / DAYS));
  copyDays(path);
}

async function seedDay(path: string, now: number, calls: number): Promise<void> {
  let clock = now - DAY_MS;
  const store = sqliteStore(path, () => clock);
  await store.open();
  for (let index = 0; index < KEYS; index++) await store.saveKey(keyAt(index), ACTOR);
  for (let index = 0; index < 40; index++)
    await store.saveBudget(
      budget(`budget_${index}`, { on: { kind: "key", what: `key_${index}` }, limit: 1e12 }),
      ACTOR,
    );
  const prices = Array.from({ length: MODELS - 1 }, (_, index) =>
    rule(`price${index}`, { provider: providerOf(index), model: `model-${index}` }),
  );
  const random = randomOf(1);
  const minutes = DAY_MS / MINUTE_MS;
  for (let minute = 0, made = 0; minute < minutes; minute++) {
    const until = Math.round((calls * (minute + 1)) / minutes);
    const began = clock;
    clock += MINUTE_MS;
    const records: CallRecord[] = [];
    for (; made < until; made++) records.push(callAt(began + Math.floor(random() * 50_000), random));
    await store.commit(
      commit({ batches: [{ ...batch(minute + 1, records), ...(minute === 0 && { prices }) }] }),
    );
  }
  await store.close();
}

function keyAt(index: number) {
  const sha256 = digestOf(`seed ${index}`);
  return key(`key_${index}`, {
    path: pathOf(index),
    tags: index % 3 === 0 ? ["prod"] : [],
    digests: [{ sha256 }],
  });
}

const pathOf = (index: number) => `/team-${index % 20}/app-${index % 80}`;
const providerOf = (index: number) => `provider-${index % 5}`;

function callAt(startedAt: number, random: () => number): CallRecord {
  // A few keys make most calls.
  const index = Math.floor(KEYS * random() ** 3);
  const { id, path, tags } = keyAt(index);
  const model = Math.floor(MODELS * random() ** 2);
  const ms = Math.round(200 + 8_000 * random() ** 4);
  const isFailed = random() < 0.02;
  const bytes = new Uint8Array(18);
  for (let at = 6; at < bytes.length; at++) bytes[at] = Math.floor(random() * 256);
  // Ids begin with the time.
  bytes.set(new Uint8Array(new BigUint64Array([BigInt(startedAt)]).buffer).reverse().subarray(2));
  const input = Math.floor(random() * 20_000);
  const answered: AttemptRecord = attempt(
    {
      ...{ provider: providerOf(model), deployment: providerOf(model), model: `model-${model}`, ms },
      class: isFailed ? "status" : "answered",
      usage: {
        ...{ input, cacheRead: Math.floor(input / 2), cacheWrite: 0, output: Math.floor(random() * 2_000) },
        ...{ reasoning: 0, known: "final" },
      },
    },
    model === MODELS - 1
      ? { state: "unpriced", cost: 0, price: undefined }
      : { state: random() < 0.01 ? "assumed" : "metered", cost: input * 3_000, price: `price${model}` },
  );
  const attempts =
    random() < 0.01 ? [attempt({ class: "no-bytes" }, { state: "assumed" }), answered] : [answered];
  const client = ["openai-python/2.11.0", "claude-cli/2.4.1", "anthropic-ts/0.71.0", undefined][index % 4];
  return {
    id: `req_${bytes.toBase64({ alphabet: "base64url" })}`,
    ...{ startedAt, ms, headMs: ms / 10, firstMs: ms / 8, ownMs: 0.2 },
    ...{ key: id, path, tags },
    ...{ format: index % 2 === 0 ? "messages" : "responses", lane: "translated", model: `name-${model}` },
    ...{ stream: true, status: isFailed ? 529 : 200, outcome: isFailed ? "failed" : "complete" },
    ...(isFailed && { error: { kind: "upstream", code: "overloaded" } }),
    ...(!isFailed && { finish: "stop" }),
    // About 30 calls of a session.
    session: sessionHash(id, sessionAt(startedAt, index)),
    ...(client !== undefined && { client }),
    ...(random() < 0.05 && { losses: [{ code: "dropped", path: "logit_bias" }] }),
    attempts,
  };
}

/** The id of a session at its client. */
export const sessionAt = (at: number, index: number) => `session-${Math.floor(at / 600_000)}-${index}`;

/** Numbers of calls are `milliseconds × 4096`: see numbers.ts. */
function copyDays(path: string): void {
  const db = new Database(path);
  for (const pragma of ["journal_mode = MEMORY", "synchronous = OFF", "cache_size = -200000"])
    db.run(`PRAGMA ${pragma}`);
  // Hours at the edge of a day are those of two: they are added up.
  db.run("CREATE TEMP TABLE first_hours AS SELECT * FROM use_hour");
  const hours = columnsOf(db, "use_hour");
  for (let day = 1; day < DAYS; day++)
    db.transaction(() => {
      const [ms, hash] = [
        day * DAY_MS,
        `CAST(substr(session, 1, 7) || x'${day.toString(16).padStart(2, "0")}' AS BLOB)`,
      ];
      const newest = `> (SELECT max(number) FROM calls) - ${DAY_MS * 4096}`;
      copy(
        db,
        "calls",
        { number: `number - ${ms * 4096}`, at: `at - ${ms}`, session: hash },
        `number ${newest}`,
      );
      copy(db, "charges", { number: `number - ${ms * 4096}` }, `number ${newest}`);
      db.run(
        `INSERT INTO use_hour SELECT hour - ${ms}, ${hours.slice(1).join(", ")} FROM first_hours WHERE true ${addUp("use_hour", "hour")}`,
      );
      copy(
        db,
        "sessions",
        { session: hash, first_at: `first_at - ${ms}`, last_at: `last_at - ${ms}` },
        `last_at > (SELECT max(last_at) FROM sessions) - ${DAY_MS}`,
      );
    })();
  db.run("DELETE FROM use_day");
  db.run(
    `INSERT INTO use_day SELECT hour - hour % ${DAY_MS}, caller, target, ${sumsOf(db)} FROM use_hour GROUP BY 1, 2, 3`,
  );
  db.run("PRAGMA journal_mode = WAL");
  db.close();
}

function sumsOf(db: Database): string {
  return columnsOf(db, "use_day")
    .slice(3)
    .map((name) => `sum(${name})`)
    .join(", ");
}

function copy(db: Database, table: string, changed: Readonly<Record<string, string>>, where: string): void {
  const values = columnsOf(db, table).map((name) => changed[name] ?? name);
  db.run(`INSERT OR IGNORE INTO ${table} SELECT ${values.join(", ")} FROM ${table} WHERE ${where}`);
}

function columnsOf(db: Database, table: string): string[] {
  return (db.query(`PRAGMA table_info(${table})`).all() as { name: string }[]).map(({ name }) => name);
}

/** A small generator of equal numbers for equal seeds. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

if (import.meta.main) {
  const [folder, calls = "10000000"] = process.argv.slice(2);
  if (folder === undefined) throw new Error("name the folder of the store");
  await seed(folder, Number(calls));
}
