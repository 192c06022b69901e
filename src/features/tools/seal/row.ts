/**
 * The key with which all gateways of a store seal what clients keep for them: a client may come back at another one. Who has it
 * can make states and cursors for a caller that it is anyway, and no other ones.
 */
import { randomBytes } from "node:crypto";
import { isSealed, rowOf } from "../../../core/envelope.ts";
import type { KeeperHost, SealedColumn } from "../../../keeper/seams.ts";

export const SEAL = `
-- What clients keep for a while is sealed with the key: 32 bytes as base64url.
CREATE TABLE tools_seal (id TEXT PRIMARY KEY, key TEXT NOT NULL) {KEYED};
`;
export const SEAL_TABLE = "tools_seal";

/** It is sealed by the key of the store. */
export const SEALED_KEY: SealedColumn = {
  ...{ table: SEAL_TABLE, column: "key", key: ["id"], isPlain: true },
};

const ID = "requests";
const ROW = rowOf(SEAL_TABLE, "key", [ID]);

/** The key of the store; the first gateway makes it. @returns base64url @throws StoreLost, and Error if it cannot be opened */
export async function sealKey({ write, envelope }: Pick<KeeperHost, "write" | "envelope">): Promise<string> {
  const sealing = envelope();
  const made = randomBytes(32).toString("base64url");
  const kept = await write(async (sql) => {
    await sql.run("INSERT INTO tools_seal (id, key) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING", [
      ID,
      sealing?.seal(made, ROW) ?? made,
    ]);
    const [row] = await sql.all<{ key: string }>("SELECT key FROM tools_seal WHERE id = $1", [ID]);
    return row!.key;
  });
  const key = isSealed(kept) ? sealing?.open(kept, ROW) : kept;
  if (key === undefined) throw new Error("the key of the store does not open the one of tools");
  return key;
}
