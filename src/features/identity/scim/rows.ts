/** Rows of SCIM in the store, and the access of people that follows from them. */
import type { Sql, SqlValue } from "../../../keeper/store/sql.ts";
import { type Grant, grantsOf } from "../groups.ts";
import { type AccessRow, grantsIn } from "../people.ts";
import type { ScimSettings } from "./settings.ts";
import { waitingId } from "./waiting.ts";

export interface UserRow {
  readonly id: string;
  readonly person: string | null;
  readonly user_name: string;
  readonly external_id: string | null;
  /** For people. */
  readonly name: string;
  readonly display: string | null;
  readonly email: string | null;
  readonly emails: string;
  readonly active: number | string;
  readonly held: number | string;
  readonly document: string;
  readonly created: number | string;
  readonly changed: number | string;
}

/** Columns of users, with nothing in place of the document: a group may have thousands. */
export const BARE_USER = [
  ...["u.id", "u.person", "u.user_name", "u.external_id", "u.name", "u.display", "u.email", "u.emails"],
  ...["u.active", "u.held", "'' AS document", "u.created", "u.changed"],
].join(", ");

export interface GroupRow {
  readonly id: string;
  readonly name: string;
  readonly external_id: string | null;
  readonly folded: string;
  readonly document: string;
  readonly created: number | string;
  readonly changed: number | string;
}

/** What a change in the store needs. */
export interface Change {
  readonly sql: Sql;
  /** Of the rows that workers hold. */
  readonly version: number;
  readonly settings: ScimSettings;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Ids of people whose access has changed. */
  readonly touched: Set<string>;
}

/** Parameters of one statement at most. */
const AT_ONCE = 500;
const SOURCE = "scim:";

export function* chunked<Value>(list: readonly Value[]): Generator<readonly Value[]> {
  for (let at = 0; at < list.length; at += AT_ONCE) yield list.slice(at, at + AT_ONCE);
}

/** `$1, $2, …` */
export const marks = (values: readonly unknown[], from = 1) =>
  values.map((_, at) => `$${at + from}`).join(", ");

/** Rows whose column has one of the values. */
export async function rowsWith<Row>(
  sql: Sql,
  table: string,
  column: string,
  values: readonly string[],
): Promise<Row[]> {
  const found: Row[] = [];
  for (const some of chunked(values))
    found.push(...(await sql.all<Row>(`SELECT * FROM ${table} WHERE ${column} IN (${marks(some)})`, some)));
  return found;
}

export const usersWith = (sql: Sql, column: string, values: readonly string[]) =>
  rowsWith<UserRow>(sql, "identity_scim_users", column, values);

async function accessRows(sql: Sql, ids: readonly string[]): Promise<Map<string, AccessRow>> {
  type Row = AccessRow & { deleted_at: SqlValue };
  const rows = await rowsWith<Row>(sql, "identity_access", "id", ids);
  return new Map(rows.filter((row) => row.deleted_at === null).map((row) => [row.id, row]));
}

export const accessRow = async (sql: Sql, id: string) => (await accessRows(sql, [id])).get(id);

export async function writeAccess(
  { sql, version, touched }: Change,
  rows: readonly AccessRow[],
): Promise<void> {
  // Nodes that write the same rows in different orders would wait for each other.
  const sorted = [...rows].sort((a, b) => (a.id < b.id ? -1 : 1));
  for (const { id } of sorted) touched.add(id);
  const columns = ["id", "status", "path", "grants", "not_before", "cut", "version"];
  const values = sorted.map(({ id, status, path, grants, not_before, cut }) => [
    ...[id, status, path, grants, Number(not_before), Number(cut), version],
  ]);
  const set = columns.slice(1).map((column) => `${column} = excluded.${column}`);
  for (const some of chunked(values))
    await sql.insert(
      "identity_access",
      columns,
      some,
      `ON CONFLICT (id) DO UPDATE SET ${set.join(", ")}, deleted_at = NULL`,
    );
}

/** The names of the groups that have users as members, by themselves or by groups in them. */
async function groupsOf(sql: Sql, users: readonly string[]): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const some of chunked(users)) {
    const rows = await sql.all<{ member: string; name: string }>(
      `WITH RECURSIVE up (member, grp) AS (
         SELECT member, grp FROM identity_scim_members WHERE member IN (${marks(some)})
         UNION SELECT up.member, m.grp FROM identity_scim_members m JOIN up ON m.member = up.grp)
       SELECT up.member, g.name FROM up JOIN identity_scim_groups g ON g.id = up.grp ORDER BY g.name`,
      some,
    );
    for (const { member, name } of rows) found.set(member, [...(found.get(member) ?? []), name]);
  }
  return found;
}

/** The users in groups, by themselves or by groups in them. */
export async function usersIn(sql: Sql, groups: readonly string[]): Promise<UserRow[]> {
  const found = new Map<string, UserRow>();
  for (const some of chunked(groups)) {
    const rows = await sql.all<UserRow>(
      `WITH RECURSIVE down (id) AS (
         SELECT member FROM identity_scim_members WHERE grp IN (${marks(some)})
         UNION SELECT m.member FROM identity_scim_members m JOIN down ON m.grp = down.id)
       SELECT ${BARE_USER} FROM down JOIN identity_scim_users u ON u.id = down.id`,
      some,
    );
    for (const row of rows) found.set(row.id, row);
  }
  return [...found.values()];
}

/** A user, and the person whose access it decides. */
interface Decided {
  readonly user: UserRow;
  readonly id: string;
}

/** Lets the access of people follow from their users. @param isNew the user did not decide about this person before */
async function settleRows(change: Change, decided: readonly Decided[], isNew: boolean): Promise<void> {
  const { sql, settings } = change;
  const groups = await groupsOf(
    sql,
    decided.map(({ user }) => user.id),
  );
  const rows = await accessRows(
    sql,
    decided.map(({ id }) => id),
  );
  const made: AccessRow[] = [];
  for (const { user, id } of decided) {
    const former = rows.get(id);
    const { status, held } = statusAfter(user, former?.status ?? "active", isNew);
    const granted = grantsOf(groups.get(user.id) ?? [], settings.rules).map((grant) => ({
      ...grant,
      source: grant.source.replace(/^group:/, SOURCE),
    }));
    const others = former ? withoutScim(grantsIn(former)) : [];
    const grants = JSON.stringify([...others, ...granted]);
    const { path = null, not_before = 0, cut = 0 } = former ?? {};
    if (held !== Number(user.held))
      await sql.run("UPDATE identity_scim_users SET held = $1 WHERE id = $2", [held, user.id]);
    const isSame = status === (former?.status ?? "active") && grants === (former?.grants ?? "[]");
    if (!isSame) made.push({ id, status, path, grants, not_before, cut: status === "active" ? 0 : cut });
  }
  await writeAccess(change, made);
}

const withoutScim = (grants: readonly Grant[]) => grants.filter(({ source }) => !source.startsWith(SOURCE));

/** SCIM restores whom it has suspended, and no person whom an operator has suspended. */
function statusAfter(
  { active, held }: UserRow,
  status: AccessRow["status"],
  isNew: boolean,
): { status: AccessRow["status"]; held: number } {
  const isDeleted = isNew && status === "deleted";
  if (Number(active) === 0) {
    if (status === "active" || isDeleted) return { status: "suspended", held: 1 };
    return { status, held: Number(held) };
  }
  const isBack = isDeleted || (Number(held) === 1 && status === "suspended");
  return { status: isBack ? "active" : status, held: 0 };
}

/** @param isNew see {@link settleRows} */
export async function settlePeople(change: Change, users: readonly UserRow[], isNew = false): Promise<void> {
  for (const some of chunked(users.filter(({ person }) => person !== null)))
    await settleRows(
      change,
      some.map((user) => ({ user, id: user.person! })),
      isNew,
    );
  const mails = new Set(
    users.flatMap(({ person, email }) => (person === null && email !== null ? [email] : [])),
  );
  for (const mail of mails) await settleMail(change, mail);
}

/** The user who waits with an address: it must be the only one that has it. */
export async function waitingUser({ sql, settings }: Change, mail: string): Promise<UserRow | undefined> {
  if (!settings.linksEmail) return undefined;
  const [user, other] = await sql.all<UserRow>("SELECT * FROM identity_scim_users WHERE email = $1 LIMIT 2", [
    mail,
  ]);
  return user?.person === null && !other ? user : undefined;
}

/** Updates what holds for a person with this address, from the users that have it. */
export async function settleMail(change: Change, mail: string): Promise<void> {
  const { sql, settings, version, now, touched } = change;
  // Without the option none waits: when it went, all rows went.
  if (!settings.linksEmail) return;
  const user = await waitingUser(change, mail);
  const id = waitingId(settings.issuer, mail);
  if (user) {
    await settleRows(change, [{ user, id }], false);
    return writePerson(change, id, user, "");
  }
  await sql.run("DELETE FROM identity_people WHERE id = $1", [id]);
  const gone = await sql.run(
    "UPDATE identity_access SET deleted_at = $1, version = $2 WHERE id = $3 AND deleted_at IS NULL",
    [now, version, id],
  );
  if (gone > 0) touched.add(id);
}

/** A user does not decide about a person any more. */
export async function release(change: Change, person: string): Promise<void> {
  const row = await accessRow(change.sql, person);
  if (!row) return;
  const grants = JSON.stringify(withoutScim(grantsIn(row)));
  if (grants !== row.grants) await writeAccess(change, [{ ...row, grants }]);
}

/** Writes down who a user is. What tokens have said of the person stays where the user does not say more. */
export async function writePerson(
  { sql, settings, now }: Change,
  id: string,
  user: UserRow,
  subject: string,
  path = "/",
): Promise<void> {
  await sql.run(
    `INSERT INTO identity_people (id, issuer, subject, name, email, email_verified, path, source, created, seen)
     VALUES ($1, $2, $3, $4, $5, 0, $6, 'scim', $7, $7) ON CONFLICT (id) DO UPDATE SET name = excluded.name,
     email_verified = CASE WHEN excluded.email IS NULL OR identity_people.email = excluded.email
       THEN identity_people.email_verified ELSE 0 END,
     email = COALESCE(excluded.email, identity_people.email)`,
    [id, settings.issuer, subject, user.name, user.email, path, now],
  );
}
