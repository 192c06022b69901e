/** Groups of SCIM in the store, their members, and what they grant. */
import { newId } from "../../../admin/entries.ts";
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { Sql } from "../../../keeper/store/sql.ts";
import { type Changes, listed, type Outcome } from "./changes.ts";
import { documentOf, expectSmall, memberOf, nameIn, unknownPath } from "./document.ts";
import { invalid, quoted, ScimFault } from "./fault.ts";
import { type Operation, Patch } from "./patch.ts";
import type { Target } from "./path.ts";
import {
  type Change,
  chunked,
  type GroupRow,
  marks,
  rowsWith,
  settlePeople,
  type UserRow,
  usersIn,
  usersWith,
} from "./rows.ts";

/** The form of ids. */
export const ID = /^[\w-]{1,64}$/;
/** Most members that one request names. */
const MOST_MEMBERS = 50_000;

export class GroupBook {
  readonly #changes: Changes;

  constructor(changes: Changes) {
    this.#changes = changes;
  }

  create(address: string, body: JsonObject): Promise<Outcome<GroupRow>> {
    const id = newId("grp_");
    const { document, members = [] } = parted(body);
    return this.#changes.run(address, "scim: create group", `scim/groups/${id}`, async (change) => {
      const value = await save(change, id, undefined, document);
      const moved = await move(change, id, { added: new Set(members), removed: new Set() });
      return { value, entry: { before: null, after: { name: value.name, ...moved } } };
    });
  }

  replace(address: string, id: string, body: JsonObject): Promise<Outcome<GroupRow>> {
    const { document, members = [] } = parted(body);
    return this.#change(address, id, () => ({ document, members: new Members(members) }));
  }

  patch(address: string, id: string, operations: readonly Operation[]): Promise<Outcome<GroupRow>> {
    return this.#change(address, id, (former) => {
      const members = new Members();
      const patch = new Patch("Group", id, former, (...operation) => members.take(...operation));
      return { document: patch.apply(operations), members };
    });
  }

  #change(
    address: string,
    id: string,
    make: (former: JsonObject) => { document: JsonObject; members: Members },
  ): Promise<Outcome<GroupRow>> {
    return this.#changes.run(address, "scim: change group", `scim/groups/${id}`, async (change) => {
      const former = await expectGroup(change.sql, id);
      const { document, members } = make(JSON.parse(former.document) as JsonObject);
      const isSame = expectSmall(document) === former.document;
      const value = isSame ? former : await save(change, id, former, document);
      const moved = await move(change, id, await members.against(change.sql, id));
      if (isSame && Object.keys(moved).length === 0) return { value };
      if (former.name !== value.name) await settlePeople(change, await usersIn(change.sql, [id]));
      return { value, entry: { before: { name: former.name }, after: { name: value.name, ...moved } } };
    });
  }

  delete(address: string, id: string): Promise<Outcome<void>> {
    return this.#changes.run(address, "scim: delete group", `scim/groups/${id}`, async (change) => {
      const { sql } = change;
      const { name } = await expectGroup(sql, id);
      const users = await usersIn(sql, [id]);
      await sql.run("DELETE FROM identity_scim_members WHERE grp = $1 OR member = $1", [id]);
      await sql.run("DELETE FROM identity_scim_groups WHERE id = $1", [id]);
      await settlePeople(change, users);
      return { value: undefined, entry: { before: { name }, after: { deleted: true } } };
    });
  }
}

/** @throws ScimFault 404 */
async function expectGroup(sql: Sql, id: string): Promise<GroupRow> {
  const [row] = await rowsWith<GroupRow>(sql, "identity_scim_groups", "id", [id]);
  if (row) return row;
  throw new ScimFault(404, undefined, "There is no such group.");
}

/** The document of a group, and its members apart. */
function parted(body: JsonObject): { document: JsonObject; members?: string[] } {
  const { members, ...document } = documentOf("Group", body);
  return { document, ...(members !== undefined && { members: idsIn(members) }) };
}

/** The ids of members in a value of a request: a list, or one of them. @throws ScimFault */
function idsIn(value: Json): string[] {
  const list = Array.isArray(value) ? value : [value];
  if (list.length > MOST_MEMBERS)
    throw new ScimFault(413, undefined, `A request may name ${MOST_MEMBERS} members at most.`);
  return list.map((one) => {
    const id = isObject(one) ? memberOf(one, "value") : one;
    if (typeof id === "string" && ID.test(id)) return id;
    throw invalid("invalidValue", "A member needs a value, the id of a user or group.");
  });
}

interface Moved {
  readonly added: ReadonlySet<string>;
  readonly removed: ReadonlySet<string>;
}

/** What happens to the members of a group by one request. */
class Members {
  /** All that there were are gone before. */
  #isReplaced: boolean;
  readonly #added: Set<string>;
  readonly #removed = new Set<string>();

  /** @param all the members; absent: those that there are */
  constructor(all?: readonly string[]) {
    this.#isReplaced = all !== undefined;
    this.#added = new Set(all);
  }

  /** @throws ScimFault */
  take(op: Operation["op"], { conditions, part }: Target, value: Json | undefined): void {
    if (conditions) return this.#named(op, conditions, part);
    if (part !== undefined) throw unknownPath(`members.${part}`);
    const ids = value === undefined || value === null ? undefined : idsIn(value);
    if (op === "replace" || (op === "remove" && ids === undefined)) this.#clear();
    for (const id of ids ?? []) this.#put(id, op !== "remove");
  }

  /** `members[value eq "…"]` */
  #named(op: Operation["op"], conditions: NonNullable<Target["conditions"]>, part: string | undefined): void {
    const [one] = conditions;
    const isId =
      conditions.length === 1 && one!.path.toLowerCase() === "value" && typeof one!.value === "string";
    if (!isId) throw invalid("invalidFilter", 'Members are named by members[value eq "ID"].');
    if (part !== undefined) throw unknownPath(`members[].${part}`);
    for (const id of idsIn(one!.value)) this.#put(id, op !== "remove");
  }

  #put(id: string, isIn: boolean): void {
    (isIn ? this.#added : this.#removed).add(id);
    (isIn ? this.#removed : this.#added).delete(id);
  }

  #clear(): void {
    this.#isReplaced = true;
    this.#added.clear();
    this.#removed.clear();
  }

  /** Those that become members, and those that are none any more. */
  async against(sql: Sql, group: string): Promise<Moved> {
    if (!this.#isReplaced) return { added: this.#added, removed: this.#removed };
    const former = await membersOf(sql, [group]);
    const ids = (former.get(group) ?? []).filter((id) => !this.#added.has(id));
    return { added: this.#added, removed: new Set(ids) };
  }
}

/** The ids of the members of groups. */
export async function membersOf(sql: Sql, groups: readonly string[]): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  const rows = await rowsWith<{ grp: string; member: string }>(sql, "identity_scim_members", "grp", groups);
  for (const { grp, member } of rows) {
    const list = found.get(grp);
    if (list) list.push(member);
    else found.set(grp, [member]);
  }
  return found;
}

async function save(
  change: Change,
  id: string,
  former: GroupRow | undefined,
  document: JsonObject,
): Promise<GroupRow> {
  const { sql, now } = change;
  const name = nameIn(document, "displayName", true)!;
  const folded = name.toLowerCase();
  const [twin] = await rowsWith<GroupRow>(sql, "identity_scim_groups", "folded", [folded]);
  // What is granted goes by the name: two groups with one name would be one.
  if (twin && twin.id !== id)
    throw new ScimFault(409, "uniqueness", "There is already a group with this displayName.");
  const row: GroupRow = {
    ...{ id, name, external_id: nameIn(document, "externalId", false) ?? null, folded },
    ...{ document: expectSmall(document), created: former?.created ?? now, changed: now },
  };
  const columns = Object.keys(row);
  const set = columns.filter((column) => column !== "id").map((column) => `${column} = excluded.${column}`);
  const values = Object.values(row) as (string | number | null)[];
  await sql.insert(
    "identity_scim_groups",
    columns,
    [values],
    `ON CONFLICT (id) DO UPDATE SET ${set.join(", ")}`,
  );
  return row;
}

/** Changes the members of a group, and what they are granted. @returns for the audit log @throws ScimFault for members that there are not */
async function move(change: Change, group: string, { added, removed }: Moved): Promise<object> {
  const { sql } = change;
  const there = await among(sql, group, [...added, ...removed]);
  const incoming = [...added].filter((id) => !there.has(id)).sort();
  const outgoing = [...removed].filter((id) => there.has(id)).sort();
  const found = await existing(sql, incoming);
  for (const id of incoming)
    if (!found.ids.has(id)) throw invalid("invalidValue", `There is no user or group ${quoted(id)}.`);
  for (const some of chunked(incoming.map((id) => [group, id])))
    await sql.insert("identity_scim_members", ["grp", "member"], some, "ON CONFLICT DO NOTHING");
  // Before the rows are gone: who is in groups that leave.
  const left = await existing(sql, outgoing);
  for (const some of chunked(outgoing))
    await sql.run(`DELETE FROM identity_scim_members WHERE grp = $1 AND member IN (${marks(some, 2)})`, [
      group,
      ...some,
    ]);
  const inGroups = await usersIn(sql, [...found.groups, ...left.groups]);
  const users = new Map([...found.users, ...left.users, ...inGroups].map((user) => [user.id, user]));
  await settlePeople(change, [...users.values()]);
  return { ...listed("added", incoming), ...listed("removed", outgoing) };
}

/** Which of some ids are members. */
async function among(sql: Sql, group: string, ids: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>();
  for (const some of chunked(ids)) {
    const rows = await sql.all<{ member: string }>(
      `SELECT member FROM identity_scim_members WHERE grp = $1 AND member IN (${marks(some, 2)})`,
      [group, ...some],
    );
    for (const { member } of rows) found.add(member);
  }
  return found;
}

async function existing(
  sql: Sql,
  ids: readonly string[],
): Promise<{ ids: ReadonlySet<string>; users: UserRow[]; groups: string[] }> {
  const users = await usersWith(sql, "id", ids);
  const groups = (await rowsWith<GroupRow>(sql, "identity_scim_groups", "id", ids)).map(({ id }) => id);
  return { ids: new Set([...users.map(({ id }) => id), ...groups]), users, groups };
}
