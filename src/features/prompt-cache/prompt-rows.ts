/** Keeps the newest prompts of sessions, why providers read less of them from a cache than before, and the sums by day. */
import type { PromptPart } from "../../core/prompt-sections.ts";
import { BREAK_REASONS, type CacheBreak, type CallRecord, type PromptRecord } from "../../ledger/record.ts";
import { packHash, startOf } from "../../keeper/record/call-rows.ts";
import type { NumberedCall } from "../../keeper/seams.ts";
import { callerOf, type Names, targetOf } from "../../keeper/store/names.ts";
import { breakOf, type Prompt, type Thread, threadAfter, threadOf } from "./prompt-breaks.ts";
import { DAY_MS } from "../../keeper/record/roll-ups.ts";
import { CACHE_SUMS } from "./report.ts";
import type { Sql, SqlValue } from "../../keeper/store/sql.ts";

/** Most conversations that are kept of one session. */
const MAX_THREADS = 8;
/** Sessions that one statement reads. Each text of a statement is prepared once, so their number is always the same. */
const READ = 20;

type CacheSums = Record<(typeof CACHE_SUMS)[number], number>;

interface ThreadRow {
  session: Uint8Array;
  thread: number;
  model: number;
  target: number;
  at: number;
  cached: number;
  keep_ms: number;
  head: number;
  parts: string;
  sections: Uint8Array;
}

/** @param calls with a prompt and a session */
export async function writePrompts(sql: Sql, names: Names, calls: readonly NumberedCall[]): Promise<void> {
  const inOrder = calls.toSorted((a, b) => startOf(a.call) - startOf(b.call));
  const sessions = await readThreads(sql, new Set(inOrder.map(({ call }) => call.session!)));
  const changed = new Map<string, { session: string; thread: number }>();
  const breaks: SqlValue[][] = [];
  const days = new Map<string, { key: number[]; sums: CacheSums }>();
  for (const { number, call } of inOrder) {
    const session = call.session!;
    const threads = sessions.get(session)!;
    const prompt = promptOf(call, names);
    if (!prompt) continue;
    const found = threadOf(threads, prompt);
    const before = threads[found];
    const at = found >= 0 ? found : newPlace(threads);
    threads[at] = threadAfter(prompt, before);
    changed.set(`${session} ${at}`, { session, thread: at });
    const lost = before && breakOf(before, prompt);
    const told = lost && { ...lost, cost: costOf(lost.tokens, prompt, call.prompt!) };
    const who = [names.id("caller", callerOf(call)), clientOf(call, names), prompt.target];
    if (told) breaks.push(breakRow(number, call, who, told));
    addTo(days, [Math.floor(startOf(call) / DAY_MS) * DAY_MS, ...who], prompt, call.prompt!, told);
  }
  await writeThreads(sql, sessions, [...changed.values()]);
  await sql.insert("cache_breaks", BREAK_COLUMNS, breaks);
  await writeDays(sql, [...days.values()]);
}

/** @returns undefined if the call has no attempt that answered */
function promptOf(call: CallRecord, names: Names): Prompt | undefined {
  const last = call.attempts.at(-1);
  if (!last || !call.prompt) return undefined;
  const { parts, head, hashes } = call.prompt;
  const { input, cacheRead, cacheWrite, cacheWrite1h = 0 } = last.usage;
  const startedAt = startOf(call);
  return {
    ...{ parts, head, hashes: Uint8Array.fromBase64(hashes) },
    model: names.id("model", call.model),
    target: names.id("target", targetOf(last)),
    ...{ startedAt, endedAt: startedAt + Math.round(call.ms) },
    ...{ input, read: cacheRead, written: cacheWrite, written1h: cacheWrite1h },
  };
}

function clientOf({ client }: CallRecord, names: Names): number {
  return client === undefined ? 0 : names.id("client", client);
}

/** The place of a new conversation: behind the others, or that of the oldest. */
function newPlace(threads: readonly Thread[]): number {
  if (threads.length < MAX_THREADS) return threads.length;
  let oldest = 0;
  for (const [at, { endedAt }] of threads.entries()) if (endedAt < threads[oldest]!.endedAt) oldest = at;
  return oldest;
}

/** The extra cost of tokens over reading them: first those that were written to the cache again. */
function costOf(tokens: number, { written, input }: Prompt, { dearer }: PromptRecord): number {
  if (!dearer) return 0;
  const ofWritten = Math.min(tokens, written);
  const ofInput = Math.min(tokens - ofWritten, input);
  const share = (nano: number, part: number, whole: number) =>
    whole === 0 ? 0 : Math.round((nano * part) / whole);
  return share(dearer.write, ofWritten, written) + share(dearer.input, ofInput, input);
}

async function readThreads(sql: Sql, sessions: ReadonlySet<string>): Promise<Map<string, Thread[]>> {
  const found = new Map<string, Thread[]>();
  const byHash = new Map<string, Thread[]>();
  const list = [...sessions].map((session) => {
    const threads: Thread[] = [];
    found.set(session, threads);
    const packed = packHash(session);
    byHash.set(packed.toHex(), threads);
    return packed;
  });
  const places = Array.from({ length: READ }, (_, index) => `$${index + 1}`).join(", ");
  for (let from = 0; from < list.length; from += READ) {
    const slice = Array.from({ length: READ }, (_, index) => list[from + index] ?? list[from]!);
    const rows = await sql.all<ThreadRow>(
      `SELECT * FROM prompts WHERE session IN (${places}) ORDER BY session, thread`,
      slice,
    );
    for (const row of rows) byHash.get(row.session.toHex())![row.thread] = threadIn(row);
  }
  return found;
}

function threadIn({ model, target, at, cached, keep_ms, head, parts, sections }: ThreadRow): Thread {
  const read = JSON.parse(parts) as PromptPart[];
  return { model, target, endedAt: at, cached, keepMs: keep_ms, head, parts: read, hashes: sections };
}

async function writeThreads(
  sql: Sql,
  sessions: ReadonlyMap<string, readonly Thread[]>,
  changed: readonly { session: string; thread: number }[],
): Promise<void> {
  const columns = [
    "session",
    "thread",
    "model",
    "target",
    "at",
    "cached",
    "keep_ms",
    "head",
    "parts",
    "sections",
  ];
  const rows = changed
    .toSorted((a, b) => (a.session === b.session ? a.thread - b.thread : a.session < b.session ? -1 : 1))
    .map(({ session, thread }) => {
      const { model, target, endedAt, cached, keepMs, head, parts, hashes } = sessions.get(session)![thread]!;
      const text = JSON.stringify(parts);
      return [packHash(session), thread, model, target, endedAt, cached, keepMs, head, text, hashes];
    });
  const updates = columns.slice(2).map((column) => `${column} = excluded.${column}`);
  await sql.insert(
    "prompts",
    columns,
    rows,
    `ON CONFLICT (session, thread) DO UPDATE SET ${updates.join(", ")}`,
  );
}

const BREAK_COLUMNS = [
  ...[
    "number",
    "at",
    "session",
    "caller",
    "client",
    "target",
    "reason",
    "section",
    "after_ms",
    "tokens",
    "cost",
  ],
] as const;

function breakRow(number: number, call: CallRecord, who: readonly number[], told: CacheBreak): SqlValue[] {
  const { reason, section = null, afterMs, tokens, cost } = told;
  const session = packHash(call.session!);
  return [
    number,
    startOf(call),
    session,
    ...who,
    BREAK_REASONS.indexOf(reason),
    section,
    afterMs,
    tokens,
    cost,
  ];
}

function addTo(
  days: Map<string, { key: number[]; sums: CacheSums }>,
  key: number[],
  { input, read, written }: Prompt,
  { saved = 0 }: PromptRecord,
  lost: CacheBreak | undefined,
): void {
  const name = key.join(" ");
  let day = days.get(name);
  if (!day) {
    const sums = Object.fromEntries(CACHE_SUMS.map((column) => [column, 0])) as CacheSums;
    days.set(name, (day = { key, sums }));
  }
  const { sums } = day;
  sums.calls += 1;
  sums.input += input;
  sums.cache_read += read;
  sums.cache_write += written;
  sums.saved += saved;
  if (!lost) return;
  sums.breaks += 1;
  sums.lost += lost.tokens;
  sums.lost_cost += lost.cost;
}

const DAY_KEY = ["day", "caller", "client", "target"] as const;

async function writeDays(sql: Sql, days: readonly { key: number[]; sums: CacheSums }[]): Promise<void> {
  await sql.insert(
    "cache_day",
    [...DAY_KEY, ...CACHE_SUMS],
    // In one order at all nodes.
    days
      .toSorted((a, b) => a.key.map((part, at) => part - b.key[at]!).find((apart) => apart !== 0) ?? 0)
      .map(({ key, sums }) => [...key, ...CACHE_SUMS.map((column) => sums[column])]),
    `ON CONFLICT (${DAY_KEY.join(", ")}) DO UPDATE SET ${CACHE_SUMS.map(addUp).join(", ")}`,
  );
}

function addUp(column: string): string {
  return `${column} = cache_day.${column} + excluded.${column}`;
}

/** Gives the sums of a caller to another one, without the client. */
export function moveDays(sql: Sql, caller: number, removed: number): Promise<void> {
  return sql.transaction(async (inner) => {
    await inner.run(
      `INSERT INTO cache_day (${DAY_KEY.join(", ")}, ${CACHE_SUMS.join(", ")})
       SELECT day, $1, 0, target, ${CACHE_SUMS.map((column) => `sum(${column})`).join(", ")} FROM cache_day
       WHERE caller = $2 GROUP BY day, target
       ON CONFLICT (${DAY_KEY.join(", ")}) DO UPDATE SET ${CACHE_SUMS.map(addUp).join(", ")}`,
      [removed, caller],
    );
    await inner.run("DELETE FROM cache_day WHERE caller = $1", [caller]);
  });
}
