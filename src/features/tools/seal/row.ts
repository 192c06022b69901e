/**
 * The key with which all gateways of a store seal what clients keep for them: a client may come back at another one. Who has it
 * can make states and cursors for a caller that it is anyway, and no other ones.
 */
import { randomBytes } from "node:crypto";
import type { KeeperHost } from "../../../keeper/seams.ts";

export const SEAL = `
-- What clients keep for a while is sealed with the key: 32 bytes as base64url.
CREATE TABLE tools_seal (id TEXT PRIMARY KEY, key TEXT NOT NULL) {KEYED};
`;
export const SEAL_TABLE = "tools_seal";

const ID = "requests";

/** The key of the store; the first gateway makes it. @returns base64url @throws StoreLost */
export function sealKey({ write }: Pick<KeeperHost, "write">): Promise<string> {
  return write(async (sql) => {
    await sql.run("INSERT INTO tools_seal (id, key) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING", [
      ID,
      randomBytes(32).toString("base64url"),
    ]);
    const [row] = await sql.all<{ key: string }>("SELECT key FROM tools_seal WHERE id = $1", [ID]);
    return row!.key;
  });
}
