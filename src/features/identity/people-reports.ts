/** Reads people from the store. */
import type { Sql, SqlValue } from "../../keeper/store/sql.ts";
import type { AccessRow } from "./people.ts";
import { type Access, accessOf, NONE } from "./people-book.ts";

/** A person with what an operator has decided. */
export interface PersonEntry {
  readonly id: string;
  readonly issuer: string;
  readonly subject: string;
  readonly name: string;
  readonly email?: string;
  readonly isEmailVerified: boolean;
  /** As its last token said. */
  readonly path: string;
  readonly source: string;
  readonly createdAt: number;
  readonly seenAt: number;
  readonly access: Access;
}

interface Row {
  readonly id: string;
  readonly issuer: string;
  readonly subject: string;
  readonly name: string;
  readonly email: string | null;
  readonly email_verified: number | string;
  readonly path: string;
  readonly source: string;
  readonly created: number | string;
  readonly seen: number | string;
  readonly status: AccessRow["status"] | null;
  readonly own_path: string | null;
  readonly grants: string | null;
  readonly not_before: number | string | null;
  readonly cut: number | string | null;
}

const SELECT = `SELECT p.id, p.issuer, p.subject, p.name, p.email, p.email_verified, p.path, p.source, p.created, p.seen,
  a.status, a.path AS own_path, a.grants, a.not_before, a.cut
  FROM identity_people p LEFT JOIN identity_access a ON a.id = p.id AND a.deleted_at IS NULL`;

export async function findPerson(sql: Sql, id: string): Promise<PersonEntry | undefined> {
  const [row] = await sql.all<Row>(`${SELECT} WHERE p.id = $1`, [id]);
  return row && entryOf(row);
}

export interface Listing {
  /** Only people at this path and below. */
  readonly within: string;
  /** Part of a name, an address, a subject or an id. */
  readonly q: string | undefined;
  /** The whole name, address or subject. */
  readonly named?: string;
  readonly limit: number;
  /** Id of the last one before. */
  readonly after: string | undefined;
}

/** @returns one more than `limit`, if there are more */
export async function listPersons(
  sql: Sql,
  { within, q, named, limit, after }: Listing,
): Promise<PersonEntry[]> {
  const values: SqlValue[] = [];
  const value = (given: SqlValue) => `$${values.push(given)}`;
  const conditions: string[] = [];
  if (within !== "/") {
    const path = "COALESCE(a.path, p.path)";
    conditions.push(
      `(${path} = ${value(within)} OR ${path} LIKE ${value(`${escaped(within)}/%`)} ESCAPE '\\')`,
    );
  }
  if (named !== undefined) {
    const is = value(named);
    conditions.push(`(p.name = ${is} OR p.email = ${is} OR p.subject = ${is})`);
  }
  if (q !== undefined) {
    const like = value(`%${escaped(q.toLowerCase())}%`);
    const columns = ["p.name", "p.email", "p.subject", "p.id"];
    conditions.push(`(${columns.map((column) => `LOWER(${column}) LIKE ${like} ESCAPE '\\'`).join(" OR ")})`);
  }
  if (after !== undefined) conditions.push(`p.id > ${value(after)}`);
  const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
  const rows = await sql.all<Row>(`${SELECT} ${where} ORDER BY p.id LIMIT ${value(limit + 1)}`, values);
  return rows.map(entryOf);
}

/** A text whose `%` and `_` stand for themselves. */
const escaped = (text: string) => text.replace(/[\\%_]/g, "\\$&");

function entryOf(row: Row): PersonEntry {
  const { id, issuer, subject, name, email, email_verified: verified, path, source, created, seen } = row;
  const { status, own_path: ownPath, grants, not_before: notBefore, cut } = row;
  return {
    ...{ id, issuer, subject, name, path, source },
    ...(email !== null && { email }),
    isEmailVerified: Number(verified) === 1,
    createdAt: Number(created),
    seenAt: Number(seen),
    access:
      status === null
        ? NONE
        : accessOf({ status, path: ownPath, grants: grants!, not_before: notBefore!, cut: cut! }),
  };
}
