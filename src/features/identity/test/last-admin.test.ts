/** The last admin on `/` cannot vanish by what people do; the machine's own command line can always name another. */
import { beforeEach, expect, test } from "bun:test";
import { RUN_FILE } from "../../../admin/callers.ts";
import type { SqlStore } from "../../../keeper/store/sql-store.ts";
import type { Grant } from "../groups.ts";
import { personId } from "../people.ts";
import { addPerson, ask, ISSUER, LISTED, peopleStore, WorldBooks } from "./support/role-world.ts";

const [ANN, BEN] = [personId(ISSUER, "ann"), personId(ISSUER, "ben")];
const ROOT: Grant = { role: "admin", on: "/", source: "hand" };

let store: SqlStore;
let books: WorldBooks;
beforeEach(async () => {
  store = await peopleStore();
  books = new WorldBooks(store);
  await addPerson(books, "ann", "/people/ann");
  await addPerson(books, "ben", "/people/ben");
  await grant(ANN, [ROOT]);
  await grant(BEN, [{ role: "admin", on: "/people", source: "hand" }]);
});

const grant = (id: string, grants: readonly Grant[]) =>
  books.people.decide({ actor: "test" }, "grant", id, (former) => ({ ...former, grants }));

async function tries(
  who: string,
  id: "changePerson" | "forgetPerson",
  whom: string,
  body?: object,
): Promise<[number, string | undefined]> {
  const operation = LISTED.find((one) => one.id === id)!;
  const asked = { operation, path: operation.path.replace("{id}", whom), ...(body && { body }) };
  const { status, code } = await ask(books, [ROOT], asked, undefined, { person: who });
  return [status, code];
}

const isAdmin = async (id: string) => {
  const { status, grants } = await books.people.accessOf(books, id);
  return status === "active" && grants.some(({ role, on }) => role === "admin" && on === "/");
};

const WAYS: readonly [string, "changePerson" | "forgetPerson", object | undefined][] = [
  ["drops its grant", "changePerson", { grants: [] }],
  ["makes itself less", "changePerson", { grants: [{ role: "admin", on: "/people" }] }],
  ["suspends itself", "changePerson", { status: "suspended" }],
  ["forgets itself", "forgetPerson", undefined],
  ["does both at once", "changePerson", { status: "suspended", grants: [] }],
];

test.each(WAYS)("the last admin %s: refused, and nothing has changed", async (_, id, body) => {
  expect(await tries(ANN, id, ANN, body)).toEqual([409, "last_admin"]);
  expect(await isAdmin(ANN)).toBe(true);
  // Ben had a session as admin before that was taken from him.
  expect(await tries(BEN, id, ANN, body)).toEqual([409, "last_admin"]);
  expect(await isAdmin(ANN)).toBe(true);
  const [person] = await store.sql.all<{ name: string }>("SELECT name FROM identity_people WHERE id = $1", [
    ANN,
  ]);
  expect(person?.name).toBe("person-ann");
});

test.each(WAYS)("with a second admin one %s", async (_, id, body) => {
  await grant(BEN, [ROOT]);
  expect((await tries(ANN, id, ANN, body))[0]).toBe(200);
  expect([await isAdmin(ANN), await isAdmin(BEN)]).toEqual([false, true]);
  expect(await tries(BEN, id, BEN, body)).toEqual([409, "last_admin"]);
});

test("a second admin who is suspended does not count; two who remove each other leave one", async () => {
  await grant(BEN, [ROOT]);
  await books.people.decide({ actor: "test" }, "suspend", BEN, (former) => ({
    ...former,
    status: "suspended",
  }));
  expect(await tries(ANN, "changePerson", ANN, { grants: [] })).toEqual([409, "last_admin"]);
  await books.people.decide({ actor: "test" }, "restore", BEN, (former) => ({ ...former, status: "active" }));
  const both = await Promise.all([
    tries(ANN, "changePerson", BEN, { status: "suspended" }),
    tries(BEN, "changePerson", ANN, { status: "suspended" }),
  ]);
  expect(both.map(([status]) => status).sort()).toEqual([200, 409]);
  expect([await isAdmin(ANN), await isAdmin(BEN)].sort()).toEqual([false, true]);
});

test("what the config declares no admin takes away; it counts as one who stays", async () => {
  await grant(ANN, [{ ...ROOT, source: "config" }]);
  expect((await tries(ANN, "changePerson", ANN, { grants: [] }))[0]).toBe(200);
  expect(await isAdmin(ANN)).toBe(true);
  expect(await tries(ANN, "changePerson", ANN, { status: "suspended" })).toEqual([409, "last_admin"]);
  await grant(BEN, [ROOT]);
  expect((await tries(BEN, "changePerson", BEN, { grants: [] }))[0]).toBe(200);
  expect(await isAdmin(ANN)).toBe(true);
});

test("an admin of a group counts, and what is no change of the last admin is let through", async () => {
  await grant(ANN, [{ ...ROOT, source: "group:admins" }]);
  expect((await tries(ANN, "changePerson", ANN, { grants: [] }))[0]).toBe(200);
  expect(await tries(ANN, "changePerson", ANN, { status: "suspended" })).toEqual([409, "last_admin"]);
  expect((await tries(ANN, "changePerson", BEN, { status: "suspended" }))[0]).toBe(200);
  expect((await tries(ANN, "changePerson", ANN, { revokeTokens: true }))[0]).toBe(200);
});

test("the command line of the machine, and keys, may", async () => {
  expect((await tries(RUN_FILE, "changePerson", ANN, { status: "suspended" }))[0]).toBe(200);
  expect(await isAdmin(ANN)).toBe(false);
});
