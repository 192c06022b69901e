/** The tables of guards in the store of the books. */
import { randomBytes } from "node:crypto";
import { isSealed, rowOf } from "../../core/envelope.ts";
import type { FeatureTables, KeeperHost } from "../../keeper/seams.ts";
import { hasVerdicts, KEPT, VERDICT_ROWS, VERDICT_TABLES, writeVerdicts } from "./watch/rows.ts";

const SECRET = `
-- The tokens of all gateways of a store are derived from it: 32 bytes as base64url.
CREATE TABLE guards_secret (id TEXT PRIMARY KEY, secret TEXT NOT NULL) {KEYED};
`;
const TABLES = ["guards_secret", ...VERDICT_TABLES];

export const tables: FeatureTables = {
  migrations: [SECRET, VERDICT_ROWS],
  copied: TABLES,
  sealed: [{ table: "guards_secret", column: "secret", key: ["id"], isPlain: true }],
  recovered: ["guards_secret", "guards_hours", "guards_unread"],
  commit: { takes: hasVerdicts, write: writeVerdicts },
  kept: KEPT,
};

const ID = "tokens";
const ROW = rowOf("guards_secret", "secret", [ID]);

/** The secret of the store; the first gateway makes it. @returns base64url @throws StoreLost */
export async function secretOfStore({
  write,
  envelope,
}: Pick<KeeperHost, "write" | "envelope">): Promise<string> {
  const sealing = envelope();
  const made = randomBytes(32).toString("base64url");
  const kept = await write(async (sql) => {
    await sql.run("INSERT INTO guards_secret (id, secret) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING", [
      ID,
      sealing?.seal(made, ROW) ?? made,
    ]);
    const [row] = await sql.all<{ secret: string }>("SELECT secret FROM guards_secret WHERE id = $1", [ID]);
    return row!.secret;
  });
  const secret = isSealed(kept) ? sealing?.open(kept, ROW) : kept;
  if (secret === undefined) throw new Error("the key of the store does not open the secret of its guards");
  return secret;
}
