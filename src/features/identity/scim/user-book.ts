/** Users of SCIM in the store, and the people whom they are. */
import { newId } from "../../../admin/entries.ts";
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import { printable } from "../../../core/printable.ts";
import type { Sql } from "../../../keeper/store/sql.ts";
import { pathFrom } from "../claims.ts";
import { personId } from "../people.ts";
import type { SeenPerson } from "../messages.ts";
import { TokenFault } from "../tokens/fault.ts";
import type { Changes, Outcome } from "./changes.ts";
import { CONTROL, documentOf, expectSmall, memberOf, nameIn, own } from "./document.ts";
import { ScimFault } from "./fault.ts";
import { type Operation, Patch } from "./patch.ts";
import {
  accessRow,
  BARE_USER,
  type Change,
  release,
  settleMail,
  settlePeople,
  type UserRow,
  usersWith,
  waitingUser,
  writeAccess,
  writePerson,
} from "./rows.ts";
import { joinedRow, mailOf, waitingId } from "./waiting.ts";

/** Most characters of a name that people read. */
const MAX_SHOWN = 80;

/** What a document says of a user. */
interface Facts {
  readonly document: JsonObject;
  readonly text: string;
  readonly userName: string;
  readonly externalId: string | undefined;
  readonly name: string;
  readonly display: string | undefined;
  readonly email: string | undefined;
  readonly emails: string;
  readonly active: boolean;
}

export class UserBook {
  readonly #changes: Changes;

  constructor(changes: Changes) {
    this.#changes = changes;
  }

  create(address: string, body: JsonObject): Promise<Outcome<UserRow>> {
    const id = newId("usr_");
    const document = documentOf("User", body);
    const facts = factsOf({ active: true, ...document }, true);
    return this.#changes.run(address, "scim: create user", `scim/users/${id}`, async (change) => {
      const value = await save(change, id, undefined, facts);
      return { value, entry: { before: null, after: noted(value, facts) } };
    });
  }

  /** What is left out of a whole document stays, if it decides who the user is and whether it is active. */
  replace(address: string, id: string, body: JsonObject): Promise<Outcome<UserRow>> {
    return this.#change(address, id, (former) => {
      const kept = ["externalId", "active"].flatMap((name) => {
        const value = own(former, name);
        return value === undefined || memberOf(body, name) !== undefined ? [] : [[name, value] as const];
      });
      return { ...documentOf("User", body), ...Object.fromEntries(kept) };
    });
  }

  patch(address: string, id: string, operations: readonly Operation[]): Promise<Outcome<UserRow>> {
    return this.#change(address, id, (former) => new Patch("User", id, former).apply(operations));
  }

  #change(address: string, id: string, make: (former: JsonObject) => JsonObject): Promise<Outcome<UserRow>> {
    return this.#changes.run(address, "scim: change user", `scim/users/${id}`, async (change) => {
      const former = await expectUser(change.sql, id);
      const isActive = Number(former.active) === 1;
      const facts = factsOf(make(JSON.parse(former.document) as JsonObject), isActive);
      if (facts.text === former.document) return { value: former };
      const value = await save(change, id, former, facts);
      return { value, entry: { before: noted(former), after: noted(value, facts) } };
    });
  }

  delete(address: string, id: string): Promise<Outcome<void>> {
    return this.#changes.run(address, "scim: delete user", `scim/users/${id}`, async (change) => {
      const { sql } = change;
      const user = await expectUser(sql, id);
      const { person, email } = user;
      await sql.run("DELETE FROM identity_scim_members WHERE member = $1", [id]);
      await sql.run("DELETE FROM identity_scim_users WHERE id = $1", [id]);
      if (person !== null) await forget(change, person);
      if (email !== null) await settleMail(change, email);
      return { value: undefined, entry: { before: noted(user), after: { deleted: true } } };
    });
  }

  /** Somebody was seen whose verified address may be that of a user who waits. */
  async join({ id, issuer, email, isEmailVerified }: SeenPerson): Promise<void> {
    const { linksEmail, issuer: own } = this.#changes.settings;
    const mail = isEmailVerified ? mailOf(email) : undefined;
    if (!linksEmail || issuer !== own || mail === undefined) return;
    await this.#changes.run(undefined, "scim: join user", `people/${id}`, async (change) => {
      const { sql } = change;
      const user = await waitingUser(change, mail);
      if (!user || (await usersWith(sql, "person", [id])).length > 0) return { value: undefined };
      await sql.run("UPDATE identity_scim_users SET person = $1 WHERE id = $2", [id, user.id]);
      await bind(change, user, id);
      return { value: undefined, entry: { before: null, after: { user: user.id } } };
    });
  }

  /** The options have changed: the access of all people follows from them anew. @param isOff there is no option any more */
  async renew(isOff: boolean): Promise<void> {
    await this.#changes.run(undefined, "scim: apply options", "scim", async (change) => {
      const { sql, settings, touched } = change;
      const waiting = await sql.all<{ id: string }>(
        `SELECT id FROM identity_access WHERE id LIKE 'wait!_%' ESCAPE '!' AND deleted_at IS NULL`,
      );
      const users = await sql.all<UserRow>(`SELECT ${BARE_USER} FROM identity_scim_users u ORDER BY u.id`);
      const moved = new Set<string>();
      for (const user of users) {
        const person = user.external_id === null ? user.person : personId(settings.issuer, user.external_id);
        if (person === user.person || isOff) continue;
        moved.add(user.id);
        await sql.run("UPDATE identity_scim_users SET person = $1, held = 0 WHERE id = $2", [
          person,
          user.id,
        ]);
        if (user.person !== null) await release(change, user.person);
        await settlePeople(change, [{ ...user, person, held: 0 }], true);
      }
      await settlePeople(
        change,
        users.filter(({ id }) => !moved.has(id)),
      );
      const own = new Set(
        users.flatMap(({ email }) => (email === null ? [] : [waitingId(settings.issuer, email)])),
      );
      for (const { id } of waiting)
        if (!own.has(id)) {
          await sql.run("UPDATE identity_access SET deleted_at = $1, version = $2 WHERE id = $3", [
            change.now,
            change.version,
            id,
          ]);
          touched.add(id);
        }
      return { value: undefined, ...(touched.size > 0 && { entry: { before: null, after: {} } }) };
    });
  }
}

/** @throws ScimFault 404 */
async function expectUser(sql: Sql, id: string): Promise<UserRow> {
  const [row] = await usersWith(sql, "id", [id]);
  if (row) return row;
  throw new ScimFault(404, undefined, "There is no such user.");
}

/** @param isActive whether the user is active if the document does not say @throws ScimFault */
function factsOf(document: JsonObject, isActive: boolean): Facts {
  const userName = nameIn(document, "userName", true)!;
  const displayName = nameIn(document, "displayName", false);
  const list = own(document, "emails");
  const entries = (Array.isArray(list) ? list : []).filter(isObject);
  const mails = entries.flatMap((one) => textIn(one, "value") ?? []);
  const primary = entries.find((one) => one["primary"] === true) ?? entries[0];
  const email = mailOf(primary ? textIn(primary, "value") : userName);
  return {
    ...{ document, text: expectSmall(document), userName },
    externalId: nameIn(document, "externalId", false),
    name: printable((displayName ?? fullName(own(document, "name")) ?? userName).slice(0, MAX_SHOWN)),
    ...{ display: displayName?.toLowerCase(), email },
    emails: `\n${mails.map((mail) => mail.toLowerCase()).join("\n")}\n`,
    active: (own(document, "active") ?? isActive) === true,
  };
}

function textIn(object: JsonObject, name: string): string | undefined {
  const value = own(object, name);
  const isText = typeof value === "string" && value.trim() !== "" && !CONTROL.test(value);
  return isText ? value.trim() : undefined;
}

function fullName(name: Json | undefined): string | undefined {
  if (!isObject(name)) return undefined;
  const parts = ["givenName", "familyName"].flatMap((part) => textIn(name, part) ?? []);
  return textIn(name, "formatted") ?? (parts.length > 0 ? parts.join(" ") : undefined);
}

/** What the audit log has of a user. It has no names: they could not be forgotten. */
function noted({ person, active }: UserRow, facts?: Facts): JsonObject {
  return { person, active: Number(active) === 1, ...(facts && { attributes: Object.keys(facts.document) }) };
}

/** @returns the row that was written @throws ScimFault 409 */
async function save(change: Change, id: string, former: UserRow | undefined, facts: Facts): Promise<UserRow> {
  const { sql, now } = change;
  const person = await personOf(change, former, facts);
  await expectUnique(sql, id, facts, person);
  const isSame = former !== undefined && former.person === person;
  const wasWaiting = former !== undefined && former.person === null;
  const row: UserRow = {
    ...{ id, person, user_name: facts.userName.toLowerCase(), external_id: facts.externalId ?? null },
    ...{
      name: facts.name,
      display: facts.display ?? null,
      email: facts.email ?? null,
      emails: facts.emails,
      active: facts.active ? 1 : 0,
    },
    ...{ held: isSame || wasWaiting ? Number(former!.held) : 0, document: facts.text },
    ...{ created: former?.created ?? now, changed: now },
  };
  const columns = Object.keys(row);
  const set = columns.filter((column) => column !== "id").map((column) => `${column} = excluded.${column}`);
  await sql.insert(
    "identity_scim_users",
    columns,
    [Object.values(row) as (string | number | null)[]],
    `ON CONFLICT (id) DO UPDATE SET ${set.join(", ")}`,
  );
  if (former?.person && !isSame) await release(change, former.person);
  if (person !== null) {
    if (wasWaiting) await bind(change, former!, person);
    await settlePeople(change, [row], !isSame);
    await writePerson(change, person, row, facts.externalId ?? "", pathOf(change, facts));
  }
  for (const mail of new Set([former?.email, row.email])) if (mail) await settleMail(change, mail);
  return row;
}

/** One question, as many users may come at once. @throws ScimFault 409 */
async function expectUnique(
  sql: Sql,
  id: string,
  { userName, externalId }: Facts,
  person: string | null,
): Promise<void> {
  const folded = userName.toLowerCase();
  const others = await sql.all<UserRow>(
    "SELECT * FROM identity_scim_users WHERE (user_name = $1 OR external_id = $2 OR person = $3) AND id <> $4",
    [folded, externalId ?? null, person, id],
  );
  const taken = (sentence: string) => new ScimFault(409, "uniqueness", sentence);
  for (const other of others) {
    if (other.user_name === folded) throw taken("There is already a user with this userName.");
    if (other.external_id !== null && other.external_id === externalId)
      throw taken("There is already a user with this externalId.");
    throw taken("Another user is this person already, by its verified address.");
  }
}

/** Whom a user is: its `externalId` is the subject of tokens. */
async function personOf(change: Change, former: UserRow | undefined, facts: Facts): Promise<string | null> {
  const { issuer, linksEmail } = change.settings;
  if (facts.externalId !== undefined) return personId(issuer, facts.externalId);
  // Who was joined by an address stays, whatever becomes of the address.
  if (former && former.person !== null && former.external_id === null) return former.person;
  if (!linksEmail || facts.email === undefined) return null;
  const found = await change.sql.all<{ id: string }>(
    `SELECT id FROM identity_people WHERE LOWER(email) = $1 AND issuer = $2 AND email_verified = 1 AND id LIKE 'per!_%' ESCAPE '!'
     AND NOT EXISTS (SELECT 1 FROM identity_scim_users u WHERE u.person = identity_people.id) LIMIT 2`,
    [facts.email, issuer],
  );
  return found.length === 1 ? found[0]!.id : null;
}

/** A user that has waited is a person from now on: what was decided meanwhile holds for the person. */
async function bind(change: Change, user: UserRow, person: string): Promise<void> {
  const { sql, settings } = change;
  if (user.email === null) return;
  const waiting = await accessRow(sql, waitingId(settings.issuer, user.email));
  const row = await accessRow(sql, person);
  if (waiting) await writeAccess(change, [{ id: person, ...joinedRow(row, waiting) }]);
  else if (row?.status === "deleted") await writeAccess(change, [{ ...row, status: "active" }]);
  await settleMail(change, user.email);
}

/** A person is deleted: calls stay, with the id. Nothing that was granted comes back with a user of the same name. */
async function forget(change: Change, person: string): Promise<void> {
  const row = await accessRow(change.sql, person);
  const { path = null, not_before = 0 } = row ?? {};
  await writeAccess(change, [{ id: person, status: "deleted", path, grants: "[]", not_before, cut: 1 }]);
  await change.sql.run(
    "UPDATE identity_people SET name = '', email = NULL, email_verified = 0 WHERE id = $1",
    [person],
  );
  await change.sql.run("DELETE FROM identity_provider_tokens WHERE person = $1", [person]);
}

/** Where calls of a person will be booked, as far as the user says it: for those who look at people of a path. */
function pathOf({ settings: { path, subject } }: Change, facts: Facts): string {
  const { email, externalId, userName, name } = facts;
  const claims: JsonObject = {
    ...{ preferred_username: userName, upn: userName, name },
    ...(externalId !== undefined && { sub: externalId, [subject]: externalId }),
    ...(email !== undefined && { email, email_verified: true }),
  };
  try {
    return pathFrom(path, claims);
  } catch (cause) {
    if (cause instanceof TokenFault) return "/";
    throw cause;
  }
}
