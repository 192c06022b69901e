/** How many bytes the files of a path have. */
import type { Sql } from "../../../keeper/store/sql.ts";
import { Refused } from "./refused.ts";

/** Counts bytes of a path. @throws Refused beyond the quota */
export async function useRoom(sql: Sql, path: string, bytes: number, quota: number): Promise<void> {
  const changed = await sql.run(
    "UPDATE file_paths SET used = used + $2 WHERE path = $1 AND used + $2 <= $3",
    [path, bytes, quota],
  );
  if (changed === 0) throw new Refused("quota");
}

export async function leaveRoom(sql: Sql, path: string, bytes: number): Promise<void> {
  await sql.run("UPDATE file_paths SET used = used - $2 WHERE path = $1", [path, bytes]);
}
