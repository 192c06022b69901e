/** Lists of users and groups, by filters. */
import { isObject, type JsonObject } from "../../../core/json.ts";
import type { Sql, SqlValue } from "../../../keeper/store/sql.ts";
import { coreOf, isSame, type Kind } from "./attributes.ts";
import { memberOf } from "./document.ts";
import { invalid, quoted } from "./fault.ts";
import { type Condition, isNamed, readFilter } from "./path.ts";
import type { GroupRow, UserRow } from "./rows.ts";

/** Most resources in an answer, and as many as there are if the request does not say. */
const MOST = 200;
const USUAL = 100;
/** Most rows of a filter on parts of addresses. */
const MOST_REFINED = 1_000;

export interface Asked {
  readonly filter: string | null;
  readonly startIndex: string | null;
  readonly count: string | null;
}

export interface Listed<Row> {
  readonly total: number;
  readonly start: number;
  readonly rows: readonly Row[];
}

const TABLES = { User: "identity_scim_users", Group: "identity_scim_groups" } as const;

/** A list that is asked for: it is read before the store is, whose reads must not fail for a request. */
export interface Query {
  readonly kind: Kind;
  readonly where: string;
  readonly values: readonly SqlValue[];
  readonly refined: readonly Refined[];
  readonly start: number;
  readonly most: number;
}

/** @throws ScimFault */
export function queryOf(kind: Kind, { filter, startIndex, count }: Asked): Query {
  const values: SqlValue[] = [];
  const conditions = filter === null ? [] : readFilter(filter);
  const clauses = conditions.map((condition) => clauseOf(kind, condition, values));
  return {
    ...{ kind, values, where: clauses.length === 0 ? "" : ` WHERE ${clauses.join(" AND ")}` },
    refined: conditions.filter(({ path }) => path.includes("[")).map(refinedOf),
    start: Math.max(1, numberIn("startIndex", startIndex, 1)),
    most: Math.min(MOST, Math.max(0, numberIn("count", count, USUAL))),
  };
}

export async function listRows<Row extends UserRow | GroupRow>(
  sql: Sql,
  { kind, where, values, refined, start, most }: Query,
): Promise<Listed<Row>> {
  const select = `SELECT * FROM ${TABLES[kind]}${where} ORDER BY created, id`;
  if (refined.length > 0) {
    const found = await sql.all<Row>(`${select} LIMIT ${MOST_REFINED}`, values);
    const rows = found.filter((row) => refined.every((one) => hasEntry(row, one)));
    return { total: rows.length, start, rows: rows.slice(start - 1, start - 1 + most) };
  }
  const [sum] = await sql.all<{ total: number }>(
    `SELECT COUNT(*) AS total FROM ${TABLES[kind]}${where}`,
    values,
  );
  const page = `${select} LIMIT ${most} OFFSET $${values.length + 1}`;
  const rows = most === 0 ? [] : await sql.all<Row>(page, [...values, start - 1]);
  return { total: Number(sum!.total), start, rows };
}

/** @throws ScimFault */
function numberIn(name: string, text: string | null, fallback: number): number {
  if (text === null || text === "") return fallback;
  if (/^-?\d{1,9}$/.test(text)) return Number(text);
  throw invalid("invalidValue", `${name} must be an integer.`);
}

/** Columns by attributes in small letters, and whether they are in small letters themselves. */
const COLUMNS: Readonly<Record<Kind, Readonly<Record<string, readonly [string, boolean]>>>> = {
  User: {
    ...{ id: ["id", false], externalid: ["external_id", false], username: ["user_name", true] },
    displayname: ["display", true],
  },
  Group: { id: ["id", false], externalid: ["external_id", false], displayname: ["folded", true] },
};

/** A condition in SQL. @param values takes its parameters @throws ScimFault */
function clauseOf(kind: Kind, { path, value }: Condition, values: SqlValue[]): string {
  const core = `${coreOf(kind)}:`.toLowerCase();
  const folded = path
    .toLowerCase()
    .replace(core, "")
    .replace(/\[.*\]/, "");
  const is = (given: SqlValue) => `$${values.push(given)}`;
  if (kind === "User" && folded === "active")
    return `active = ${is(String(value).toLowerCase() === "true" ? 1 : 0)}`;
  if (typeof value !== "string") throw unknown(path);
  const small = value.toLowerCase();
  const column = Object.hasOwn(COLUMNS[kind], folded) ? COLUMNS[kind][folded] : undefined;
  if (column) return `${column[0]} = ${is(column[1] ? small : value)}`;
  if (kind === "User" && (folded === "emails.value" || folded === "emails"))
    return `emails LIKE ${is(`%\n${small.replace(/[!%_]/g, "!$&")}\n%`)} ESCAPE '!'`;
  if (kind === "Group" && (folded === "members.value" || folded === "members"))
    return `id IN (SELECT grp FROM identity_scim_members WHERE member = ${is(value)})`;
  throw unknown(path);
}

const unknown = (path: string) => invalid("invalidFilter", `weir does not filter by ${quoted(path)}.`);

/** `emails[type eq "work"].value eq "…"` */
interface Refined {
  readonly conditions: readonly Condition[];
  readonly value: string;
}

/** @throws ScimFault */
function refinedOf({ path, value }: Condition): Refined {
  const [, name, filter] = /^([\w:.-]+)\[(.*)\]\.value$/i.exec(path) ?? [];
  if (name === undefined || !/emails$/i.test(name)) throw unknown(path);
  return { conditions: readFilter(filter!), value: String(value) };
}

function hasEntry({ document }: UserRow | GroupRow, { conditions, value }: Refined): boolean {
  const list = memberOf(JSON.parse(document) as JsonObject, "emails");
  return (
    Array.isArray(list) &&
    list.some((one) => isNamed(one, conditions) && isObject(one) && isSame(String(one["value"]), value))
  );
}
