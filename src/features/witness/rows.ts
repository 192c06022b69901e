/** Reads and writes the rows of witness. */
import { parseJson } from "../../core/json.ts";
import type { Sql } from "../../keeper/store/sql.ts";
import type { Kind } from "./differences.ts";
import { chained, type Draft, type Observation } from "./observation.ts";

/** A change of a provider that the sequential tests found. */
export interface Change {
  readonly id: string;
  /** When it was found, and when it began at the latest. Milliseconds since 1970. */
  readonly at: number;
  readonly since: number;
  readonly model: string;
  readonly kind: Kind;
  /** The test that found it. */
  readonly stream: string;
  /** A clause. */
  readonly words: string;
  /** How sure it is: a clause. */
  readonly evidence: string;
  /** Id of the observation that was enough. */
  readonly observation: string;
}

interface Row {
  readonly number: number;
  readonly id: string;
  readonly at: number | string;
  readonly taken_by: Observation["by"];
  readonly model: string;
  readonly own: string;
  readonly seen: string;
  readonly cost: number | string;
  readonly prior: string;
  readonly hash: string;
}

/** Puts observations behind the last one of the chain, in their order. */
export async function append(sql: Sql, drafts: readonly Draft[]): Promise<Observation[]> {
  const [last] = await sql.all<{ number: number; hash: string }>(
    "SELECT number, hash FROM witness_observations ORDER BY number DESC LIMIT 1",
  );
  const added: Observation[] = [];
  for (const draft of drafts) {
    const before = added.at(-1) ?? (last && { number: Number(last.number), hash: last.hash });
    added.push(chained(draft, before));
  }
  await sql.insert(
    "witness_observations",
    ["number", "id", "at", "taken_by", "model", "own", "seen", "cost", "prior", "hash"],
    added.map(({ number, id, at, by, model, own, seen, cost, before, hash }) => [
      ...[number, id, at, by, model, JSON.stringify(own), JSON.stringify(seen), cost, before, hash],
    ]),
  );
  return added;
}

/** The newest observations, the newest first. */
export async function newest(
  sql: Sql,
  { model, limit, until }: { model?: string | undefined; limit: number; until?: number | undefined },
): Promise<Observation[]> {
  const rows = await sql.all<Row>(
    `SELECT * FROM witness_observations WHERE ($1 = '' OR model = $1) AND at < $2 ORDER BY number DESC LIMIT ${limit}`,
    [model ?? "", until ?? Number.MAX_SAFE_INTEGER],
  );
  return rows.map(observationOf);
}

export async function byId(sql: Sql, id: string): Promise<Observation | undefined> {
  const [row] = await sql.all<Row>("SELECT * FROM witness_observations WHERE id = $1", [id]);
  return row && observationOf(row);
}

/** Observations of a model between two times, the oldest first. */
export async function between(sql: Sql, model: string, from: number, to: number): Promise<Observation[]> {
  const rows = await sql.all<Row>(
    "SELECT * FROM witness_observations WHERE model = $1 AND at >= $2 AND at < $3 ORDER BY number",
    [model, from, to],
  );
  return rows.map(observationOf);
}

/** Observations of the schedule since a time, the oldest first. */
export async function scheduledSince(sql: Sql, from: number): Promise<Observation[]> {
  const rows = await sql.all<Row>(
    "SELECT * FROM witness_observations WHERE at >= $1 AND taken_by = 'schedule' ORDER BY number",
    [from],
  );
  return rows.map(observationOf);
}

function observationOf({ number, at, own, seen, cost, prior, ...row }: Row): Observation {
  return {
    ...{ id: row.id, by: row.taken_by, model: row.model, hash: row.hash, before: prior },
    ...{ number: Number(number), at: Number(at), cost: Number(cost) },
    own: parseJson(own) as unknown as Observation["own"],
    seen: parseJson(seen) as unknown as Observation["seen"],
  };
}

/** Claims a look. @returns whether no other process has it */
export async function claim(sql: Sql, slot: string, at: number, held: number): Promise<boolean> {
  await sql.run("DELETE FROM witness_looks WHERE at < $1", [at - KEPT_MS]);
  const changed = await sql.run(
    "INSERT INTO witness_looks (slot, at, held) VALUES ($1, $2, $3) ON CONFLICT (slot) DO NOTHING",
    [slot, at, held],
  );
  return changed === 1;
}

const KEPT_MS = 35 * 86_400_000;

export async function settle(sql: Sql, slot: string, spent: number): Promise<void> {
  await sql.run("UPDATE witness_looks SET spent = $2 WHERE slot = $1", [slot, spent]);
}

/** What looks of the schedule cost since a time, and what those may cost that run or were lost. Nano-dollars. */
export async function spentSince(sql: Sql, from: number): Promise<number> {
  const [row] = await sql.all<{ sum: number | string | null }>(
    "SELECT SUM(COALESCE(spent, held)) AS sum FROM witness_looks WHERE at >= $1 AND slot LIKE 'every-%'",
    [from],
  );
  return Number(row?.sum ?? 0);
}

export async function writeChanges(sql: Sql, changes: readonly Change[]): Promise<void> {
  await sql.insert(
    "witness_changes",
    ["id", "at", "model", "kind", "stream", "words", "evidence", "observation", "since"],
    changes.map(({ id, at, model, kind, stream, words, evidence, observation, since }) => [
      ...[id, at, model, kind, stream, words, evidence, observation, since],
    ]),
    "ON CONFLICT (id) DO NOTHING",
  );
}

/** The newest changes, the newest first. */
export async function newestChanges(sql: Sql, limit: number): Promise<Change[]> {
  const rows = await sql.all<Change>(`SELECT * FROM witness_changes ORDER BY at DESC, id LIMIT ${limit}`);
  return rows.map((row) => ({ ...row, at: Number(row.at), since: Number(row.since) }));
}
