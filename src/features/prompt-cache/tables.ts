/** The tables of prompts, of what was not read from caches, and of the sums by day. */
import type { FeatureTables, KeptRows } from "../../keeper/seams.ts";
import { readBreaks } from "./sessions.ts";
import { CACHE_SUMS } from "./report.ts";
import { moveDays, writePrompts } from "./prompt-rows.ts";

/** Earlier versions of weir made these tables with those of the books, so they may exist. */
const FIRST = `
-- The newest prompt of each conversation of a session. sections: 8 bytes for each section; parts: JSON. model, target: names.
CREATE TABLE IF NOT EXISTS prompts (session {BYTES} NOT NULL, thread {INT} NOT NULL, model {INT} NOT NULL, target {INT} NOT NULL,
  at {INT} NOT NULL, cached {INT} NOT NULL, keep_ms {INT} NOT NULL, head {INT} NOT NULL, parts TEXT NOT NULL,
  sections {BYTES} NOT NULL, PRIMARY KEY (session, thread)) {KEYED};
CREATE INDEX IF NOT EXISTS prompts_at ON prompts (at);
-- number: of the call that read less than the one before it. client: a name, 0 if the call has none.
CREATE TABLE IF NOT EXISTS cache_breaks (number {INT} PRIMARY KEY, at {INT} NOT NULL, session {BYTES} NOT NULL, caller {INT} NOT NULL,
  client {INT} NOT NULL, target {INT} NOT NULL, reason {INT} NOT NULL, section TEXT, after_ms {INT} NOT NULL,
  tokens {INT} NOT NULL, cost {INT} NOT NULL) {KEYED};
CREATE TABLE IF NOT EXISTS cache_day (day {INT} NOT NULL, caller {INT} NOT NULL, client {INT} NOT NULL, target {INT} NOT NULL,
  ${CACHE_SUMS.map((column) => `${column} {INT} NOT NULL`).join(", ")}, PRIMARY KEY (day, caller, client, target)) {KEYED};
`;

const PROMPTS: KeptRows = {
  table: "prompts",
  key: ["session", "thread"],
  old: ({ sessions }) => `at < ${sessions}`,
  of: (own) => `session IN (SELECT session FROM sessions WHERE ${own})`,
};

const BREAKS: KeptRows = {
  table: "cache_breaks",
  key: ["number"],
  old: ({ calls }) => `number < ${calls}`,
  of: (own) => own,
};

export const tables: FeatureTables = {
  migrations: [FIRST],
  copied: ["prompts", "cache_breaks", "cache_day"],
  recovered: ["cache_day"],
  commit: {
    takes: ({ prompt, session }) => prompt !== undefined && session !== undefined,
    write: writePrompts,
  },
  kept: [PROMPTS, BREAKS],
  forget: moveDays,
  async join(sql, numbers) {
    const breaks = await readBreaks(sql, numbers);
    return new Map([...breaks].map(([number, cacheBreak]) => [number, { cacheBreak }]));
  },
};
