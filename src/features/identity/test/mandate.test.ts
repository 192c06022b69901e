/** What managers may not do, although the operation is theirs: attempts, each of which is refused, and let through without its rule. */
import { beforeEach, expect, test } from "bun:test";
import type { SqlStore } from "../../../keeper/store/sql-store.ts";
import type { Grant } from "../groups.ts";
import { personId } from "../people.ts";
import { ROLE_TABLE } from "../role-table.ts";
import { addPerson, ask, ISSUER, LISTED, peopleStore, put, WorldBooks } from "./support/role-world.ts";

let store: SqlStore;
let books: WorldBooks;
beforeEach(async () => {
  store = await peopleStore();
  books = new WorldBooks(store);
  for (const [place, path] of [
    ["own", "/eng"],
    ["below", "/eng/search"],
    ["all", "/"],
  ] as const)
    put(books, place, path);
  await addPerson(books, "alice", "/eng/search");
  await addPerson(books, "boss", "/eng/boss");
  await books.people.decide({ actor: "test" }, "grant", idOf("boss"), (former) => ({
    ...former,
    grants: [by("admin", "/"), by("auditor", "/sales")],
  }));
  // $1 a month for all of /eng, and 10 requests a minute.
});

const idOf = (name: string) => personId(ISSUER, name);
const by = (role: Grant["role"], on: string): Grant => ({ role, on, source: "hand" });
const operationOf = (id: string) => LISTED.find((one) => one.id === id)!;

function asManager(id: string, about: string, body: object | undefined, grants = [by("manager", "/eng")]) {
  const operation = operationOf(id);
  const asked = { operation, path: operation.path.replaceAll(/\{\w+\}/g, about), ...(body && { body }) };
  return ask(books, grants, asked);
}

const path = (what: string) => ({ kind: "path", what });
const key = (what: string) => ({ kind: "key", what });

/** Operation, id in its path, body, and the status. */
const ATTEMPTS: readonly [string, string, string, object | undefined, number][] = [
  ["a key for the admin API", "createKey", "", { name: "n", kind: "admin" }, 403],
  ["a key that reads", "createKey", "", { name: "n", kind: "read" }, 403],
  ["a key beside", "createKey", "", { name: "n", path: "/sales" }, 403],
  ["a key above", "createKey", "", { name: "n", path: "/" }, 403],
  ["a key whose name is a path", "createKey", "", { name: "n", path: "/engine" }, 403],
  [
    "a key with more than the budget of the path",
    "createKey",
    "",
    { name: "n", budget: { limit: 2e9 } },
    403,
  ],
  ["a key with more requests", "createKey", "", { name: "n", rates: { rpm: 11 } }, 403],
  ["the secret of an admin key below", "rotateKey", "admin-below", {}, 403],
  ["the end of an admin key below", "revokeKey", "admin-own", undefined, 403],
  ["an admin key that moves", "changeKey", "admin-below", { path: "/eng" }, 403],
  ["a key that moves away", "changeKey", "key-below", { path: "/sales" }, 403],
  ["a key of above", "rotateKey", "key-all", {}, 404],
  ["the budget of the own path", "raiseBudget", "budget-own", { limit: 2e9 }, 403],
  ["the end of the budget of the own path", "deleteBudget", "budget-own", undefined, 403],
  ["the budget of all", "changeBudget", "budget-all", { limit: 2e9 }, 404],
  ["more than the ceiling", "raiseBudget", "budget-below", { limit: 1_000_000_001 }, 403],
  ["more than the ceiling by the window", "changeBudget", "budget-below", { limit: 2e9, window: "day" }, 403],
  ["a budget that moves up", "changeBudget", "budget-below", { on: path("/eng") }, 403],
  ["a budget that moves away", "changeBudget", "budget-below", { on: path("/sales") }, 403],
  [
    "a budget on everything",
    "createBudget",
    "",
    { name: "n", on: { kind: "all", what: "" }, limit: 1e8 },
    403,
  ],
  [
    "a budget on a model",
    "createBudget",
    "",
    { name: "n", on: { kind: "model", what: "m" }, limit: 1e8 },
    403,
  ],
  ["a budget on a key above", "createBudget", "", { name: "n", on: key("key-all"), limit: 1e8 }, 404],
  ["a budget beyond it on a key", "createBudget", "", { name: "n", on: key("key-own"), limit: 2e9 }, 403],
  ["the rate limit of the own path", "changeRate", "rate-own", { limits: { rpm: 99 } }, 403],
  ["the end of it", "deleteRate", "rate-own", undefined, 403],
  ["more requests", "changeRate", "rate-below", { limits: { rpm: 11 } }, 403],
  ["more at once", "changeRate", "rate-below", { limits: { rpm: 10 }, burst: { rpm: 11 } }, 403],
  ["a rate limit beyond it", "createRate", "", { name: "n", on: path("/eng/x"), limits: { rpm: 11 } }, 403],
  ["an admin", "changePerson", idOf("alice"), { grants: [by2("admin", "/eng/search")] }, 403],
  ["a manager", "changePerson", idOf("alice"), { grants: [by2("manager", "/eng/search")] }, 403],
  ["an auditor", "changePerson", idOf("alice"), { grants: [by2("auditor", "/eng/search")] }, 403],
  ["a member above", "changePerson", idOf("alice"), { grants: [by2("member", "/")] }, 403],
  ["a member beside", "changePerson", idOf("alice"), { grants: [by2("viewer", "/sales")] }, 403],
  ["a person who moves away", "changePerson", idOf("alice"), { path: "/sales/alice" }, 403],
  ["the suspension of an admin of everything", "changePerson", idOf("boss"), { status: "suspended" }, 403],
  ["the tokens of an admin of everything", "changePerson", idOf("boss"), { revokeTokens: true }, 403],
  ["the path of an admin of everything", "changePerson", idOf("boss"), { path: "/eng" }, 403],
  ["an invited admin", "addPerson", "", { ...invited("/eng/new"), grants: [by2("admin", "/eng/new")] }, 403],
  ["somebody invited beside", "addPerson", "", invited("/sales/new"), 403],
];

function by2(role: string, on: string) {
  return { role, on };
}

function invited(at: string) {
  return { issuer: ISSUER, subject: "new", path: at, grants: [{ role: "member", on: at }] };
}

test.each(ATTEMPTS)("a manager does not get %s", async (_, id, about, body, status) => {
  const came = await asManager(id, about, body);
  expect([came.status, came.message]).toEqual([status, expect.any(String)]);
});

test("without its rule each operation lets one of the attempts through", async () => {
  const open: Record<string, boolean> = {};
  for (const [, id, about, body] of ATTEMPTS) {
    const { narrow, ...rest } = ROLE_TABLE[id]!;
    if (narrow === undefined || narrow === "people") continue;
    const operation = operationOf(id);
    const asked = { operation, path: operation.path.replaceAll(/\{\w+\}/g, about), ...(body && { body }) };
    const came = await ask(books, [by("manager", "/eng")], asked, { ...ROLE_TABLE, [id]: rest });
    open[id] ||= came.status < 300;
  }
  const managed = Object.entries(ROLE_TABLE).filter(
    ([id, { narrow }]) => narrow !== undefined && narrow !== "people" && id !== "playground",
  );
  expect(Object.keys(open).sort()).toEqual(managed.map(([id]) => id).sort());
  expect(Object.entries(open).filter(([, isOpen]) => !isOpen)).toEqual([]);
});

/** What is within. */
const PERMITTED: readonly [string, string, object | undefined][] = [
  ["createKey", "", { name: "n", path: "/eng/x", budget: { limit: 1e9 }, rates: { rpm: 10 } }],
  ["rotateKey", "key-own", {}],
  ["revokeKey", "key-below", undefined],
  ["changeKey", "key-below", { path: "/eng" }],
  ["raiseBudget", "budget-below", { limit: 1e9 }],
  ["createBudget", "", { name: "n", on: path("/eng/x"), limit: 12e9, window: "total" }],
  ["createBudget", "", { name: "n", on: key("key-own"), limit: 1e9 }],
  ["changeRate", "rate-below", { limits: { rpm: 10, tpm: 5 }, burst: { rpm: 10 } }],
  ["changePerson", idOf("alice"), { status: "suspended", cut: true, revokeTokens: true }],
  ["changePerson", idOf("alice"), { grants: [by2("member", "/eng"), by2("viewer", "/eng/search")] }],
  ["addPerson", "", invited("/eng/new")],
];

test.each(PERMITTED)("a manager may: %s %s %j", async (id, about, body) => {
  const came = await asManager(id, about, body);
  expect([came.message, Math.floor(came.status / 100)]).toEqual([undefined, 2]);
});

test("grants that a manager could not give stay as they are, also if the list leaves them out", async () => {
  const grants = async () =>
    (await books.people.accessOf(books, idOf("boss"))).grants.map(({ role, on }) => `${role} ${on}`);
  expect((await asManager("changePerson", idOf("boss"), { grants: [] })).status).toBe(200);
  expect(await grants()).toEqual(["admin /", "auditor /sales"]);
  // As a client sends what it has read, with one more.
  const body = { grants: [by2("admin", "/"), by2("auditor", "/sales"), by2("member", "/eng/boss")] };
  expect((await asManager("changePerson", idOf("boss"), body)).status).toBe(200);
  expect(await grants()).toEqual(["admin /", "auditor /sales", "member /eng/boss"]);
  // An admin of a path neither.
  const admin = [by("admin", "/eng")];
  expect((await asManager("changePerson", idOf("boss"), { grants: [] }, admin)).status).toBe(200);
  expect(await grants()).toEqual(["admin /", "auditor /sales"]);
  expect((await asManager("changePerson", idOf("boss"), { status: "suspended" }, admin)).status).toBe(403);
  expect((await asManager("forgetPerson", idOf("boss"), undefined, admin)).status).toBe(403);
});

test("a manager does not restore whom somebody has suspended; an admin does", async () => {
  expect((await asManager("changePerson", idOf("alice"), { status: "suspended" })).status).toBe(200);
  const restored = await asManager("changePerson", idOf("alice"), { status: "active" });
  expect([restored.status, restored.code]).toEqual([403, "not_permitted"]);
  expect((await asManager("changePerson", idOf("alice"), { revokeTokens: true })).status).toBe(200);
  const admin = [by("admin", "/eng")];
  expect((await asManager("changePerson", idOf("alice"), { status: "active" }, admin)).status).toBe(200);
}, 20_000);

test("the keys of a manager can do no more than the tokens of its issuer", async () => {
  const operation = operationOf("createKey");
  const asked = (scopes: object) => ({ operation, path: operation.path, body: { name: "n", scopes } });
  const limited = { scopes: { models: ["gpt-5-*"], maxTokens: 100 } };
  const send = (scopes: object, role: Grant["role"]) =>
    ask(books, [by(role, "/eng")], asked(scopes), ROLE_TABLE, limited);
  expect((await send({ models: ["*"] }, "manager")).status).toBe(403);
  expect((await send({ maxTokens: 101 }, "manager")).status).toBe(403);
  const made = await send({ models: ["gpt-5-mini"] }, "manager");
  expect(JSON.parse(made.text).key.scopes).toEqual({ models: ["gpt-5-mini"], maxTokens: 100 });
  books.keys.delete(JSON.parse(made.text).key.id as string);
  expect((await send({ models: ["*"] }, "admin")).status).toBe(201);
});

test("of a manager above and an admin below, the one who may counts", async () => {
  const both = [by("manager", "/"), by("admin", "/eng")];
  const made = await asManager("createKey", "", { name: "n", kind: "read" }, both);
  expect([made.status, JSON.parse(made.text).key.path]).toEqual([201, "/eng"]);
  expect((await asManager("createKey", "", { name: "m", path: "/sales" }, both)).status).toBe(201);
  expect((await asManager("rotateKey", "admin-all", {}, both)).status).toBe(404);
});

test("a manager sees the audit log of its path and its own entries, and nothing of others", async () => {
  const saved = (id: string, at: string) =>
    books.saveKey({ ...books.keys.get(id)!, tags: [at] }, { actor: "cli" });
  await saved("key-own", "1");
  await saved("key-all", "2");
  await saved("key-below", "3");
  await books.saveBudget({ ...books.budgets.get("budget-all")!, limit: 7 }, { actor: "per_asking" });
  for (const entry of books.log) entry.subject = entry.subject.replace(/^(key|budget) /, "$1s/");
  books.auditLog = async () => ({ entries: [...books.log].reverse() });
  const seen = async (grant: Grant) =>
    JSON.parse((await asManager("auditLog", "", undefined, [grant])).text).entries.map(
      (entry: { subject: string }) => entry.subject,
    );
  expect(await seen(by("manager", "/eng"))).toEqual(["budgets/budget-all", "keys/key-below", "keys/key-own"]);
  expect((await seen(by("auditor", "/"))).length).toBe(4);
  expect(await seen(by("manager", "/sales"))).toEqual(["budgets/budget-all"]);
});
