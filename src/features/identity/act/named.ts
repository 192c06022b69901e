/** Who is meant by a name, in the keeper. */
import type { KeeperHost } from "../../../keeper/seams.ts";
import { isWithin } from "../../../ledger/keys/path.ts";
import type { NamedPerson, OAuthAnswer } from "../messages.ts";

/** People with one address, at several providers. */
const MOST = 20;

/** @returns 404, if there is nobody or more than one below the path */
export async function personNamed(
  host: Pick<KeeperHost, "read">,
  { name, within }: NamedPerson,
): Promise<OAuthAnswer> {
  const rows = await host.read((sql) =>
    sql.all<{ id: string; name: string; path: string; status: string }>(
      `SELECT p.id, p.name, COALESCE(a.path, p.path) AS path, COALESCE(a.status, 'active') AS status
       FROM identity_people p LEFT JOIN identity_access a ON a.id = p.id AND a.deleted_at IS NULL
       WHERE ${name.startsWith("per_") ? "p.id = $1" : "LOWER(p.email) = $1 AND p.email_verified = 1"} LIMIT ${MOST}`,
      [name],
    ),
  );
  const found = rows.filter(({ path, status }) => status !== "deleted" && isWithin(path, within));
  const [only, second] = found;
  if (!only || second) return { status: 404, body: {} };
  return { status: 200, body: { id: only.id, name: only.name, path: only.path } };
}
