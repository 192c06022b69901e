/** Roles against operations: each cell of the table below, over the real operations, and each slip in the table of weir is found. */
import { beforeAll, expect, test } from "bun:test";
import type { SqlStore } from "../../../keeper/store/sql-store.ts";
import { type Role, ROLES } from "../groups.ts";
import { personId } from "../people.ts";
import { type Permitted, ROLE_TABLE } from "../role-table.ts";
import {
  addPerson,
  ask,
  type Asked,
  ISSUER,
  LISTED,
  peopleStore,
  put,
  seesPlace,
  WorldBooks,
} from "./support/role-world.ts";

/** Places, as seen from the grant on `/eng`. */
const PLACES = { own: "/eng", below: "/eng/search", sibling: "/sales", above: "/" } as const;
type Place = keyof typeof PLACES;
const NAMES = Object.keys(PLACES) as Place[];

/** Where a role may use an operation: on its path and below, only below, or nowhere. */
const [ALL, BELOW, OWN, NO] = [["own", "below"], ["below"], ["own"], []] as const;
type Reach = readonly Place[];
type Row = Readonly<Record<Role, Reach>>;

/** The contract's table, in its words. `viewer`, `member`, `manager`, `admin`, `auditor`. */
const row = (viewer: Reach, member: Reach, manager: Reach, admin: Reach, auditor: Reach): Row => ({
  ...{ viewer, member, manager, admin, auditor },
});
const ROWS = {
  "read numbers, names of keys, providers": row(ALL, NO, ALL, ALL, ALL),
  leave: row(ALL, ALL, ALL, ALL, ALL),
  "read captured bodies": row(NO, NO, NO, ALL, ALL),
  "look at files of clients": row(NO, NO, NO, ALL, ALL),
  "delete files of clients": row(NO, NO, NO, ALL, NO),
  "have calls captured": row(NO, NO, NO, ALL, NO),
  "cancel batches": row(NO, NO, NO, ALL, NO),
  "retry batches": row(NO, NO, NO, ALL, NO),
  "send captured calls again": row(NO, NO, NO, ALL, NO),
  "create and change keys for others": row(NO, NO, ALL, ALL, NO),
  "limits up to the own ceiling": row(NO, NO, BELOW, ALL, NO),
  "take keys over by their hashes": row(NO, NO, NO, ALL, NO),
  "look at people": row(NO, NO, ALL, ALL, ALL),
  "invite and suspend people": row(NO, NO, ALL, ALL, NO),
  "forget people": row(NO, NO, NO, ALL, NO),
  "read the audit log": row(NO, NO, ALL, ALL, ALL),
  // About the person alone: a place does not matter.
  "see itself, end its sessions and keys": row(OWN, OWN, OWN, OWN, OWN),
  "make its own keys": row(NO, OWN, OWN, OWN, NO),
} as const;

/** The whole gateway: only with the role on `/`. */
const GATEWAY = {
  "read numbers": ["viewer", "manager", "admin", "auditor"],
  "read what the gateway is made of": ["admin", "auditor"],
  "change the gateway": ["admin"],
  "begin a session without a person": [],
} as const satisfies Record<string, readonly Role[]>;

const OPERATIONS: Readonly<Record<string, keyof typeof ROWS | keyof typeof GATEWAY>> = {
  getSession: "read numbers, names of keys, providers",
  signOut: "leave",
  makeSignInLink: "begin a session without a person",
  ...Object.fromEntries(
    `overview listKeys getKey listBudgets getBudget listRates getRate usage listPrices whatIf listCalls summarizeCalls getCall
     getCallMoney cacheReport cacheSessions cacheSession listConversations getConversation runningCalls liveCalls routing listModels explain listProviders listNames
     listModelFacts describe listBatches getBatch toolCosts`
      .split(/\s+/)
      .map((id) => [id, "read numbers, names of keys, providers"] as const),
  ),
  metrics: "read numbers",
  getCallBody: "read captured bodies",
  listFirstWords: "read captured bodies",
  getConversationTalk: "read captured bodies",
  watchCall: "read captured bodies",
  listStoredFiles: "look at files of clients",
  getStoredFile: "look at files of clients",
  deleteStoredFile: "delete files of clients",
  listCaptureRules: "have calls captured",
  createCaptureRule: "have calls captured",
  deleteCaptureRule: "have calls captured",
  cancelBatch: "cancel batches",
  retryBatch: "retry batches",
  explainReplay: "send captured calls again",
  replayCall: "send captured calls again",
  createKey: "create and change keys for others",
  changeKey: "create and change keys for others",
  revokeKey: "create and change keys for others",
  rotateKey: "create and change keys for others",
  playground: "create and change keys for others",
  importKeys: "take keys over by their hashes",
  createBudget: "limits up to the own ceiling",
  changeBudget: "limits up to the own ceiling",
  raiseBudget: "limits up to the own ceiling",
  deleteBudget: "limits up to the own ceiling",
  createRate: "limits up to the own ceiling",
  changeRate: "limits up to the own ceiling",
  deleteRate: "limits up to the own ceiling",
  listPeople: "look at people",
  getPerson: "look at people",
  addPerson: "invite and suspend people",
  changePerson: "invite and suspend people",
  forgetPerson: "forget people",
  auditLog: "read the audit log",
  getMe: "see itself, end its sessions and keys",
  endMySession: "see itself, end its sessions and keys",
  deleteMyKey: "see itself, end its sessions and keys",
  createMyKey: "make its own keys",
  rotateMyKey: "make its own keys",
  ...Object.fromEntries(
    `missingPrices listStoredModels getStoredModel getConfig getConfigSource auditBooks listAssumptions listInvoices getStore
     listAlerts listGuards tryGuards listSecrets listToolServers listServerTools getServerPins getServerLogs
     getRehearsalOutlines listLooks diffLooks listRuns`
      .split(/\s+/)
      .map((id) => [id, "read what the gateway is made of"] as const),
  ),
  ...Object.fromEntries(
    `deleteCaptures openGateway revokeToken createStoredModel changeStoredModel deleteStoredModel reloadConfig reconcile
     backupStore checkStore releaseBudgets pruneStore approveServerTools testAlerts rekeySecrets rehearseConfig lookNow`
      .split(/\s+/)
      .map((id) => [id, "change the gateway"] as const),
  ),
};

/** A request about a place: about a thing there, or which makes one. Others have no place of their own. */
const budget = { limit: 1e8, window: "month" };
const REQUESTS: Readonly<
  Record<string, (place: string, path: string) => { id?: string; query?: string; body?: object }>
> = {
  getKey: (place) => ({ id: `key-${place}` }),
  getBudget: (place) => ({ id: `budget-${place}` }),
  getRate: (place) => ({ id: `rate-${place}` }),
  getCall: (place) => ({ id: `req_${place}` }),
  getCallMoney: (place) => ({ id: `req_${place}` }),
  getCallBody: (place) => ({ id: `req_${place}` }),
  explainReplay: (place) => ({ id: `req_${place}`, body: {} }),
  replayCall: (place) => ({ id: `req_${place}`, body: {} }),
  usage: (place) => ({ query: `?key=key-${place}` }),
  listCalls: (place) => ({ query: `?key=key-${place}` }),
  rehearseConfig: () => ({ body: { config: "{}" } }),
  lookNow: () => ({ body: {} }),
  diffLooks: () => ({ query: "?a=x&b=y" }),
  tryGuards: () => ({ body: { text: "" } }),
  whatIf: (place) => ({ body: { key: `key-${place}`, map: {} } }),
  explain: (place) => ({ body: { format: "messages", key: `key-${place}`, body: {} } }),
  playground: (place) => ({ body: { format: "messages", key: `key-${place}`, body: {} } }),
  createKey: (_, path) => ({ body: { name: "new", path } }),
  changeKey: (place) => ({ id: `key-${place}`, body: { tags: ["x"] } }),
  revokeKey: (place) => ({ id: `key-${place}` }),
  rotateKey: (place) => ({ id: `key-${place}`, body: {} }),
  importKeys: (_, path) => ({ body: { keys: [{ name: "new", sha256: "0".repeat(64), path }] } }),
  createBudget: (_, what) => ({ body: { name: "new", on: { kind: "path", what }, ...budget } }),
  changeBudget: (place) => ({ id: `budget-${place}`, body: { limit: 1e8 } }),
  raiseBudget: (place) => ({ id: `budget-${place}`, body: { limit: 1e9 } }),
  deleteBudget: (place) => ({ id: `budget-${place}` }),
  createRate: (_, what) => ({ body: { name: "new", on: { kind: "path", what }, limits: { rpm: 1 } } }),
  changeRate: (place) => ({ id: `rate-${place}`, body: { limits: { rpm: 1 } } }),
  deleteRate: (place) => ({ id: `rate-${place}` }),
  getPerson: (place) => ({ id: personId(ISSUER, place) }),
  addPerson: (_, path) => ({
    body: { issuer: ISSUER, subject: crypto.randomUUID(), path, grants: [{ role: "member", on: path }] },
  }),
  changePerson: (place) => ({ id: personId(ISSUER, place), body: { status: "suspended" } }),
  forgetPerson: (place) => ({ id: personId(ISSUER, place) }),
  createMyKey: () => ({ body: { name: "new" } }),
  rotateMyKey: () => ({ body: {} }),
  revokeToken: () => ({ body: { issuer: ISSUER, jti: "1" } }),
  createStoredModel: () => ({ body: { name: "m2", model: "p/m" } }),
  changeStoredModel: () => ({ body: { model: "p/m" } }),
  reconcile: () => ({ body: { provider: "p", month: "2026-11", amount: 1 } }),
  backupStore: () => ({ body: { path: "/tmp/copy.db" } }),
  pruneStore: () => ({ body: {} }),
  createCaptureRule: (_, what) => ({ body: { on: { kind: "path", what } } }),
  testAlerts: () => ({ body: {} }),
  approveServerTools: () => ({ body: { digest: "d" } }),
};

let store: SqlStore;
beforeAll(async () => {
  store = await peopleStore();
  const books = new WorldBooks(store);
  for (const place of NAMES) await addPerson(books, place, PLACES[place]);
});

/** Errors of what an operation needs, and this gateway does not have: the person was let in. */
const LET_IN = new Set([
  "store_failed",
  "not_captured",
  "gateway_failed",
  "invalid_request",
  "conflict",
  "not_available",
]);

/** Whether somebody with one grant may use an operation about a place. */
async function may(
  operation: (typeof LISTED)[number],
  role: Role,
  on: string,
  place: Place,
  table?: Readonly<Record<string, Permitted>>,
): Promise<boolean> {
  const books = new WorldBooks(store);
  for (const name of NAMES) put(books, name, PLACES[name]);
  if (operation.id.endsWith("Person")) await store.sql.run("DELETE FROM identity_access");
  const { id = "x", query = "", body } = REQUESTS[operation.id]?.(place, PLACES[place]) ?? {};
  const asked: Asked = {
    operation,
    path: operation.path.replaceAll(/\{\w+\}/g, id) + query,
    ...(body && { body }),
  };
  const came = await ask(books, [{ role, on, source: "hand" }], asked, table);
  const { status, code = "", message } = came;
  // This world has no sessions, so that the operations on the person itself end there.
  if (message?.startsWith("Only somebody who is signed in")) return came.caller !== undefined;
  if (status === 403 && (code === "forbidden" || code === "not_permitted")) return false;
  // What nobody may learn of is not there. A list has no place of its own.
  const isAbsent = status === 404 && code === "not_found" && id !== "x" && !seesPlace(came, PLACES[place]);
  if (isAbsent) return false;
  const isIn = status < 300 || LET_IN.has(code) || (status === 404 && came.caller !== undefined);
  if (!isIn) throw new Error(`${operation.id} as ${role} on ${on} (${place}): ${status} ${code} ${message}`);
  return seesPlace(came, PLACES[place]);
}

/** What is not as the table says: operation, role, place. */
async function differences(
  operation: (typeof LISTED)[number],
  table?: Readonly<Record<string, Permitted>>,
): Promise<string[]> {
  const what = OPERATIONS[operation.id]!;
  const wrong: string[] = [];
  for (const role of ROLES) {
    const isWhole = Object.hasOwn(GATEWAY, what);
    const places = what.includes(" its ") ? (["own"] as const) : NAMES;
    const allowed = isWhole ? undefined : ROWS[what as keyof typeof ROWS][role];
    for (const place of places) {
      const expected = allowed?.includes(place) ?? false;
      if ((await may(operation, role, "/eng", place, table)) !== expected)
        wrong.push(`${operation.id} ${role} on /eng, ${place}: ${String(!expected)}`);
    }
    if (!isWhole) continue;
    const expected = (GATEWAY[what as keyof typeof GATEWAY] as readonly Role[]).includes(role);
    if ((await may(operation, role, "/", "above", table)) !== expected)
      wrong.push(`${operation.id} ${role} on /: ${String(!expected)}`);
  }
  return wrong;
}

const WITH_ROLE = LISTED.filter(({ needs }) => needs.role !== "none");

test("each operation has its roles, here and in weir: a new one is closed until somebody has decided", () => {
  const ids = WITH_ROLE.map(({ id }) => id).sort();
  expect(Object.keys(ROLE_TABLE).sort()).toEqual(ids);
  expect(Object.keys(OPERATIONS).sort()).toEqual(ids);
});

test("who may what on the own path, below, beside and above", async () => {
  const wrong: string[] = [];
  for (const operation of WITH_ROLE) wrong.push(...(await differences(operation)));
  expect(wrong).toEqual([]);
}, 60_000);

test("every slip in the table is found: a role too many, one too few, a manager who may as much as an admin", async () => {
  const missed: string[] = [];
  let slips = 0;
  for (const operation of WITH_ROLE) {
    const { id } = operation;
    const { roles, narrow } = ROLE_TABLE[id]!;
    const changed: Permitted[] = ROLES.map((role) => ({
      roles: roles.includes(role) ? roles.filter((one) => one !== role) : [...roles, role],
      ...(narrow && { narrow }),
    }));
    if (narrow === "limits") changed.push({ roles });
    for (const entry of changed) {
      slips++;
      if ((await differences(operation, { ...ROLE_TABLE, [id]: entry })).length === 0)
        missed.push(`${id}: ${entry.roles.join(", ")}`);
    }
  }
  expect(missed).toEqual([]);
  expect(slips).toBeGreaterThan(300);
}, 120_000);
