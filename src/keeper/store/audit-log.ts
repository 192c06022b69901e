/**
 * The audit log. Each entry has the hash of the one before it and its own, so that an entry that was changed, removed or put
 * between others is found. A person who may write to the database and computes all hashes again stays undetected.
 */
import { AUDIT_ENTRIES } from "./meta.ts";
import type { Sql, Transaction } from "./sql.ts";
import type { Actor } from "./store.ts";

/** An entry as it is stored, without its number and hashes. */
interface Entry {
  /** Milliseconds since 1970. */
  at: number;
  actor: string;
  address: string | null;
  action: string;
  /** Path of what was changed: `keys/key_…`. */
  subject: string;
  /** JSON. */
  before: string | null;
  after: string | null;
}

interface ChainedEntry extends Entry {
  id: number;
  /** The hash of the entry before; null for the first one that has a hash, and for entries of earlier versions of weir. */
  previous: string | null;
  /** Null for entries of earlier versions of weir. */
  hash: string | null;
}

/** Rows that the check reads at once. */
const SLICE = 1_000;

/** Adds an entry, in the transaction of what it tells. `null`: there was nothing before, or is nothing after. */
export async function writeAudit(
  sql: Transaction,
  at: number,
  { actor, address }: Actor,
  action: string,
  subject: string,
  before: unknown,
  after: unknown,
): Promise<void> {
  const json = (value: unknown) => (value === null || value === undefined ? null : JSON.stringify(value));
  const entry: Entry = {
    ...{ at, actor, address: address ?? null, action, subject, before: json(before), after: json(after) },
  };
  // The row of the counter makes writers wait for each other until they commit: no two have the same entry before them.
  await sql.run(
    `INSERT INTO meta (name, value) VALUES ('${AUDIT_ENTRIES}', 1) ON CONFLICT (name) DO UPDATE SET value = meta.value + 1`,
  );
  const [last] = await sql.all<{ hash: string }>(
    "SELECT hash FROM audit WHERE hash IS NOT NULL ORDER BY id DESC LIMIT 1",
  );
  const previous = last?.hash ?? null;
  await sql.run(
    `INSERT INTO audit (at, actor, address, action, subject, before, after, previous, hash)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [...valuesOf(entry), previous, hashOf(previous, entry)],
  );
}

/** What a check of the chain found. */
export interface Chain {
  /** Entries with a hash. */
  entries: number;
  /** Entries of earlier versions of weir, which have none. */
  older: number;
  /** The first entry that is not as weir wrote it, as a clause. */
  fault?: string;
}

/** How far the log was read. */
export interface ChainPlace {
  /** The newest entry, and its hash. */
  last: { id: number; hash: string | null };
}

/** Reads the log from its beginning. */
export async function checkChain(sql: Sql): Promise<Chain> {
  const { last: _, ...chain } = await readChain(sql, { entries: 0, older: 0, last: { id: 0, hash: null } });
  return chain;
}

/** Reads the log. @param from what was read of it before */
export async function readChain(sql: Sql, from: Chain & ChainPlace): Promise<Chain & ChainPlace> {
  const chain = { ...from };
  for (;;) {
    const slice: ChainedEntry[] = await sql.all<ChainedEntry>(
      `SELECT id, at, actor, address, action, subject, before, after, previous, hash FROM audit
       WHERE id > $1 ORDER BY id LIMIT ${SLICE}`,
      [chain.last.id],
    );
    for (const entry of slice) {
      const fault = faultOf(entry, chain.last.hash, chain.entries > 0);
      if (fault !== undefined) return { ...chain, fault };
      if (entry.hash === null) chain.older++;
      else chain.entries++;
      chain.last = { id: entry.id, hash: entry.hash };
    }
    if (slice.length < SLICE) break;
  }
  const [row] = await sql.all<{ value: number }>(`SELECT value FROM meta WHERE name = '${AUDIT_ENTRIES}'`);
  const missing = (row?.value ?? 0) - chain.entries;
  if (missing > 0) return { ...chain, fault: `the newest entries were removed: ${missing}` };
  if (missing < 0) return { ...chain, fault: `it has ${-missing} more than weir wrote` };
  return chain;
}

/**
 * Lets the log go on behind the entries that it has, where the newest ones are lost with a damaged file.
 * @returns how many are lost
 */
export async function acceptLoss(sql: Sql): Promise<number> {
  const [row] = await sql.all<{ kept: number; written: number | null }>(
    `SELECT count(hash) AS kept, (SELECT value FROM meta WHERE name = '${AUDIT_ENTRIES}') AS written FROM audit`,
  );
  const { kept, written } = row!;
  await sql.run(
    `INSERT INTO meta (name, value) VALUES ('${AUDIT_ENTRIES}', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    [kept],
  );
  return Math.max(0, (written ?? 0) - kept);
}

function faultOf(entry: ChainedEntry, previous: string | null, hasBegun: boolean): string | undefined {
  const { id, at, action, subject, hash } = entry;
  const named = `entry ${id} (${action} of ${subject}, ${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC)`;
  if (hash === null) return hasBegun ? `${named} was not written by weir` : undefined;
  if (hash !== hashOf(entry.previous, entry)) return `${named} was changed`;
  if (entry.previous !== previous) return `an entry before ${named} was removed or exchanged`;
  return undefined;
}

function valuesOf({ at, actor, address, action, subject, before, after }: Entry) {
  return [at, actor, address, action, subject, before, after];
}

/** SHA-256 as 64 hexadecimal digits. */
function hashOf(previous: string | null, entry: Entry): string {
  // A database stores half of a surrogate pair as U+FFFD.
  const values = [previous, ...valuesOf(entry)].map((value) =>
    typeof value === "string" ? value.toWellFormed() : value,
  );
  return new Bun.CryptoHasher("sha256").update(JSON.stringify(values)).digest("hex");
}
