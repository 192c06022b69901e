/** The tables of batches in the store of the books. Lines are in the journals of their batch, and in no table. */
import { randomBytes } from "node:crypto";
import { isSealed, rowOf } from "../../core/envelope.ts";
import type { FeatureTables, KeeperHost } from "../../keeper/seams.ts";
import { BOOKED_ROWS, isOfBatch, writeBooked } from "./booked.ts";
import { proveBatches } from "./proof.ts";
import { EVENT_ROWS } from "./webhooks/event-book.ts";

const FIRST = `
-- The lines and results of all batches of a store are sealed with keys that are derived from it: 32 bytes as base64url.
CREATE TABLE batches_secret (id TEXT PRIMARY KEY, secret TEXT NOT NULL) {KEYED};
-- created, ended, lease: milliseconds since 1970. fence: number of the runner, the last one counts. node: who has the lease until
-- the time of lease. batch: the rest, as JSON.
CREATE TABLE batches (id TEXT PRIMARY KEY, path TEXT NOT NULL, key_id TEXT, person TEXT, created {INT} NOT NULL, ended {INT},
  fence {INT} NOT NULL, node TEXT NOT NULL, lease {INT} NOT NULL, batch TEXT NOT NULL) {KEYED};
CREATE INDEX batches_created ON batches (created, id);
CREATE INDEX batches_open ON batches (ended, lease);
`;

export const tables: FeatureTables = {
  migrations: [FIRST, BOOKED_ROWS, EVENT_ROWS],
  copied: ["batches_secret", "batches", "batches_calls", "batches_events"],
  sealed: [{ table: "batches_secret", column: "secret", key: ["id"], isPlain: true }],
  recovered: ["batches_secret", "batches", "batches_calls", "batches_events"],
  commit: { takes: isOfBatch, write: (sql, _, calls) => writeBooked(sql, calls) },
  prove: proveBatches,
  kept: [{ table: "batches_calls", key: ["number"], old: ({ calls }) => `number < ${calls}` }],
};

const ID = "lines";
const ROW = rowOf("batches_secret", "secret", [ID]);

/** The secret of the store; the first gateway makes it. @returns base64url @throws StoreLost, and Error if it cannot be opened */
export async function secretOfBatches({
  write,
  envelope,
}: Pick<KeeperHost, "write" | "envelope">): Promise<string> {
  const sealing = envelope();
  const made = randomBytes(32).toString("base64url");
  const kept = await write(async (sql) => {
    await sql.run("INSERT INTO batches_secret (id, secret) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING", [
      ID,
      sealing?.seal(made, ROW) ?? made,
    ]);
    const [row] = await sql.all<{ secret: string }>("SELECT secret FROM batches_secret WHERE id = $1", [ID]);
    return row!.secret;
  });
  const secret = isSealed(kept) ? sealing?.open(kept, ROW) : kept;
  if (secret === undefined) throw new Error("the key of the store does not open the secret of batches");
  return secret;
}
