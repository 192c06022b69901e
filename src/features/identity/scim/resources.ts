/** Rows of the store as resources of SCIM. */
import type { JsonObject } from "../../../core/json.ts";
import type { Sql } from "../../../keeper/store/sql.ts";
import type { Kind } from "./attributes.ts";
import { schemasOf } from "./document.ts";
import { membersOf } from "./group-book.ts";
import { chunked, type GroupRow, marks, type UserRow } from "./rows.ts";

/** @param base address of SCIM */
export async function userResources(sql: Sql, rows: readonly UserRow[], base: string): Promise<JsonObject[]> {
  const groups = await directGroups(
    sql,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => {
    const own = (groups.get(row.id) ?? []).map(({ id, name }) => ({
      ...{ value: id, $ref: `${base}/Groups/${id}`, display: name, type: "direct" },
    }));
    return resource("User", row, base, own.length > 0 ? { groups: own } : undefined);
  });
}

/** @param withMembers whether anybody wants to see them: there may be many */
export async function groupResources(
  sql: Sql,
  rows: readonly GroupRow[],
  base: string,
  withMembers: boolean,
): Promise<JsonObject[]> {
  const members = withMembers
    ? await membersOf(
        sql,
        rows.map(({ id }) => id),
      )
    : new Map<string, string[]>();
  return rows.map((row) => {
    const own = (members.get(row.id) ?? []).map((id) => {
      const type = id.startsWith("grp_") ? "Group" : "User";
      return { value: id, $ref: `${base}/${type}s/${id}`, type };
    });
    return resource("Group", row, base, own.length > 0 ? { members: own } : undefined);
  });
}

export function resource(
  kind: Kind,
  row: UserRow | GroupRow,
  base: string,
  more: JsonObject = {},
): JsonObject {
  const document = JSON.parse(row.document) as JsonObject;
  const at = (ms: number | string) => new Date(Number(ms)).toISOString();
  return {
    ...{ schemas: schemasOf(kind, document), id: row.id, ...document, ...more },
    meta: {
      ...{ resourceType: kind, created: at(row.created), lastModified: at(row.changed) },
      location: `${base}/${kind}s/${row.id}`,
    },
  };
}

async function directGroups(
  sql: Sql,
  users: readonly string[],
): Promise<Map<string, { id: string; name: string }[]>> {
  const found = new Map<string, { id: string; name: string }[]>();
  for (const some of chunked(users)) {
    const rows = await sql.all<{ member: string; id: string; name: string }>(
      `SELECT m.member, g.id, g.name FROM identity_scim_members m JOIN identity_scim_groups g ON g.id = m.grp
       WHERE m.member IN (${marks(some)}) ORDER BY g.name`,
      some,
    );
    for (const { member, id, name } of rows) found.set(member, [...(found.get(member) ?? []), { id, name }]);
  }
  return found;
}
