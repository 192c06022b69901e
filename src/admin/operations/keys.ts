/** Keys: create, list, change, rotate, revoke, import. The text of a key is answered once and is stored nowhere. */
import { Type } from "@sinclair/typebox";
import {
  adoptKey,
  changeKey,
  createKey,
  KeyError,
  type Maker,
  revokeKey,
  rotateKey,
} from "../../ledger/keys/make.ts";
import { isWithin } from "../../ledger/keys/path.ts";
import { type Budget, isDeclared, type KeyEntry, type RateLimit } from "../../ledger/policy.ts";
import type { AdminBooks } from "../books.ts";
import { actorOf, expectFreeName, expectVersion, findKey, newId, page, versionOf } from "../entries.ts";
import { AdminError, conflict, declared, invalid } from "../../operator/errors.ts";
import { budgetOfPath } from "../key-budget.ts";
import { limitsOf } from "../key-limits.ts";
import { expectSets, setsOf } from "../model-sets.ts";
import { modelWarnings } from "../model-warnings.ts";
import { type AdminRequest, operation } from "../operation.ts";
import { CreatedKey, Key, KeyChange, KeyImport, NewKey } from "../../operator/keys.ts";
import { PAGE, PATH, pageOf, request } from "../../operator/shapes.ts";
import { expectAmount, newBudget } from "./budgets.ts";

type Facts = Awaited<ReturnType<AdminBooks["keyFacts"]>>;
type Given = Pick<AdminRequest, "books" | "caller" | "headers" | "now">;

/** Grace period of a rotation: the default and the longest. Milliseconds. */
const GRACE_MS = 86_400_000;
const MAX_GRACE_MS = 90 * GRACE_MS;

const LIMITS = Type.Boolean({
  default: false,
  description: "Also the budgets and rate limits that count all its calls, and what it has spent in 30 days.",
});

const ONE = { name: "Key", schema: Key };
const CREATED = { name: "CreatedKey", schema: CreatedKey };

export const keyOperations = [
  operation({
    method: "GET",
    path: "/admin/v1/keys",
    id: "listKeys",
    summary: "Keys of the configuration and of the store",
    access: "read",
    query: request({
      ...PAGE,
      path: Type.Optional(PATH),
      revoked: Type.Boolean({ default: false, description: "Revoked keys too." }),
      limits: LIMITS,
    }),
    answer: { name: "Keys", schema: pageOf("keys", Key) },
    async handle(given) {
      const { books, caller, query } = given;
      const visible = books
        .policy()
        .keys.filter(({ path }) => isWithin(path, caller.path) && isWithin(path, query.path ?? "/"))
        .filter(({ revokedAt }) => query.revoked || revokedAt === undefined);
      const { entries, next } = page(visible, query);
      const facts = await books.keyFacts();
      const limits = query.limits ? await limitsOf(given, entries) : undefined;
      const views = entries.map((key) => withLimits(viewOf(key, facts, given), limits));
      return { json: { keys: views, ...(next && { next }) } };
    },
  }),
  operation({
    method: "POST",
    path: "/admin/v1/keys",
    id: "createKey",
    summary: "Creates a key; no other answer contains its text",
    description:
      "With `budget` or `rates` it also creates a budget or a rate limit of the same name on the key. Without `budget` the key gets that of `keyBudgets` of the configuration for its path, if there is one.",
    access: "write",
    body: NewKey,
    answer: CREATED,
    status: 201,
    errors: ["conflict", "not_permitted", "keys_in_file"],
    async handle(given) {
      const { books, caller, now } = given;
      const { budget: amount, rates: limits, ...wanted } = given.body;
      const { keys, budgets, rates } = books.policy();
      if (wanted.kind === undefined || wanted.kind === "call") expectStored(books);
      expectSets(given, wanted.scopes?.models, "/scopes/models");
      const { entry, text } = checked(() => createKey(wanted, makerOf(given), now));
      const { name } = entry;
      expectFreeName("key", keys, name);
      if (entry.kind !== "call" && (amount || limits))
        throw invalid("Only keys for calls have budgets and rate limits.", amount ? "/budget" : "/rates");
      const on = { kind: "key", what: entry.id } as const;
      const budget = amount ? newBudget({ name, on, ...amount }) : budgetOfPath(entry, books.policy());
      const rate: RateLimit | undefined = limits && { id: newId("rate_"), name, on, limits, source: "store" };
      if (budget) expectFreeName("budget", budgets, budget.name);
      if (amount) expectAmount(amount.limit, "/budget/limit");
      if (rate) expectFreeName("rate limit", rates, name);
      // A key must never exist without its limits, so they come first.
      if (budget) await books.saveBudget(budget, actorOf(caller));
      if (rate) await books.saveRate(rate, actorOf(caller));
      const created = await createdOf(entry, text, given, entry.scopes.models);
      return { ...created, json: { ...created.json, ...(budget && { budget: shownBudget(budget) }) } };
    },
  }),
  operation({
    method: "GET",
    path: "/admin/v1/keys/{id}",
    id: "getKey",
    summary: "One key, by id or name",
    access: "read",
    query: request({ limits: LIMITS }),
    answer: ONE,
    errors: ["not_found"],
    async handle(given) {
      const key = findKey(given, given.params["id"]!);
      const { json, version } = await answerOf(key, given);
      const limits = given.query.limits ? await limitsOf(given, [key]) : undefined;
      return { json: withLimits(json, limits), version };
    },
  }),
  operation({
    method: "PATCH",
    path: "/admin/v1/keys/{id}",
    id: "changeKey",
    summary: "Changes name, path, tags, scopes or expiry of a key",
    access: "write",
    body: KeyChange,
    answer: ONE,
    errors: ["not_found", "declared", "conflict", "not_permitted"],
    async handle(given) {
      const { books, body } = given;
      const key = storedKey(given, given.params["id"]!);
      if (body.name !== undefined) expectFreeName("key", books.policy().keys, body.name, key.id);
      const added = body.scopes?.models?.filter((text) => !key.scopes.models?.includes(text));
      expectSets(given, added, "/scopes/models");
      const changed = checked(() => changeKey(key, body, makerOf(given)));
      const { json, version } = await save(changed, given);
      const warned = await modelWarnings(given, `the key ${changed.name}`, body.scopes?.models);
      return { json: { ...json, ...warned }, version };
    },
  }),
  operation({
    method: "DELETE",
    path: "/admin/v1/keys/{id}",
    id: "revokeKey",
    summary: "Revokes a key at once; its rows stay",
    access: "write",
    query: request({
      cut: Type.Boolean({ default: false, description: "Also ends the streams that run with it." }),
    }),
    answer: ONE,
    errors: ["not_found", "declared", "not_permitted"],
    async handle(given) {
      const { caller, query, now } = given;
      const key = storedKey(given, given.params["id"]!);
      if (key.revokedAt !== undefined && (key.cut || !query.cut)) return answerOf(key, given);
      return save(
        checked(() => revokeKey(key, query.cut, caller, now)),
        given,
      );
    },
  }),
  operation({
    method: "POST",
    path: "/admin/v1/keys/{id}/rotate",
    id: "rotateKey",
    summary: "Gives a key a new text; the old one works until the grace period ends",
    access: "write",
    body: request({
      graceMs: Type.Integer({
        minimum: 0,
        maximum: MAX_GRACE_MS,
        default: GRACE_MS,
        description: "Milliseconds. Default: one day.",
      }),
    }),
    bodyOptional: true,
    answer: CREATED,
    errors: ["not_found", "declared", "not_permitted"],
    async handle(given) {
      const { caller, body, now } = given;
      const key = storedKey(given, given.params["id"]!);
      const { entry, text } = checked(() => rotateKey(key, body.graceMs, caller, now));
      return createdOf(entry, text, given);
    },
  }),
  operation({
    method: "POST",
    path: "/admin/v1/access/open",
    id: "openGateway",
    summary: "Lets calls without a key in again, until the next key is created",
    description:
      "Refused while a key for calls is valid. Listeners that other machines can reach stay closed.",
    access: "write",
    wholeGateway: true,
    answer: { name: "Opened", schema: Type.Object({ opened: Type.Boolean() }) },
    errors: ["conflict"],
    async handle({ books, caller, now }) {
      const { keys, unreleased } = books.policy();
      if (unreleased)
        throw conflict(
          "The store is not released since it was damaged; check it and run weir store release first.",
        );
      const valid = keys.filter(
        ({ kind, revokedAt, expiresAt = Infinity }) =>
          kind === "call" && revokedAt === undefined && now < expiresAt,
      );
      if (valid.length > 0) throw conflict(stillValid(valid));
      await books.openKeys(actorOf(caller));
      return { json: { opened: true } };
    },
  }),
  operation({
    method: "POST",
    path: "/admin/v1/import/keys",
    id: "importKeys",
    summary: "Imports keys of which only the digests are known",
    description: "Keys whose digest exists already are skipped. A name that exists refuses the whole import.",
    access: "write",
    body: KeyImport,
    answer: {
      name: "ImportedKeys",
      schema: Type.Object({ keys: Type.Array(Key), skipped: Type.Array(Type.String()) }),
    },
    errors: ["conflict", "not_permitted", "keys_in_file"],
    async handle(given) {
      const { books, caller, body } = given;
      expectStored(books);
      const { keys } = books.policy();
      const known = new Set(keys.flatMap(({ digests }) => digests.map(({ sha256 }) => sha256)));
      const imported: KeyEntry[] = [];
      const skipped: string[] = [];
      for (const { sha256, ...wanted } of body.keys) {
        if (known.has(sha256)) {
          skipped.push(wanted.name);
          continue;
        }
        expectFreeName("key", [...keys, ...imported], wanted.name);
        known.add(sha256);
        expectSets(given, wanted.scopes?.models, "/keys");
        imported.push(checked(() => adoptKey(wanted, sha256, makerOf(given))));
      }
      for (const key of imported) await books.saveKey(key, actorOf(caller));
      const facts = await books.keyFacts();
      return { json: { keys: imported.map((key) => viewOf(key, facts, given)), skipped } };
    },
  }),
];

function shownBudget({ id, name, limit, window, mode }: Budget) {
  return { id, name, limit, window, mode };
}

function withLimits<View extends { id: string }>(
  view: View,
  limits: Awaited<ReturnType<typeof limitsOf>> | undefined,
) {
  return { ...view, ...(limits && { limits: limits.get(view.id) }) };
}

/** @throws AdminError 400 or 403 instead of a KeyError */
function checked<Value>(make: () => Value): Value {
  try {
    return make();
  } catch (cause) {
    if (!(cause instanceof KeyError)) throw cause;
    const path = `/${cause.member.replaceAll(".", "/")}`;
    throw cause.isBeyondMaker
      ? new AdminError(403, "not_permitted", cause.message, { path })
      : invalid(cause.message, path);
  }
}

/** @throws AdminError 409 if only the config may contain keys for calls */
function expectStored({ storesCallKeys }: AdminBooks): void {
  if (storesCallKeys) return;
  const sentence = "Keys for calls stand in the configuration file (store.keys: file); add this one there.";
  throw new AdminError(409, "keys_in_file", sentence);
}

/** A key that may be changed here. @throws AdminError 404, 409 or 412 */
function storedKey(given: Given, id: string): KeyEntry {
  const key = findKey(given, id);
  if (isDeclared(key)) throw declared("key", key.name);
  expectVersion(given.headers, key);
  return key;
}

async function save(key: KeyEntry, given: Given) {
  await given.books.saveKey(key, actorOf(given.caller));
  return answerOf(key, given);
}

/** @param patterns new ones, of which it is told if they match no model */
async function createdOf(key: KeyEntry, secret: string, given: Given, patterns?: readonly string[]) {
  await given.books.saveKey(key, actorOf(given.caller));
  const { json, version } = await answerOf(key, given);
  const warned = await modelWarnings(given, `the key ${key.name}`, patterns);
  return { json: { key: { ...json, ...warned }, secret, closed: given.books.policy().closed }, version };
}

/** Who makes or changes a key, with the sets that its scopes may name. */
function makerOf({ books, caller }: Given): Maker {
  return { ...caller, sets: books.policy().modelSets };
}

async function answerOf(key: KeyEntry, given: Given) {
  const json = viewOf(key, await given.books.keyFacts(), given);
  return { json, version: json.version };
}

/** A key without its digests. */
function viewOf(key: KeyEntry, facts: Facts, given: Pick<Given, "books" | "now">) {
  const { now } = given;
  const { digests, cut: _, ...members } = key;
  const { expiresAt = Infinity, revokedAt } = key;
  const rotatingUntil = Math.max(0, ...digests.map(({ until = 0 }) => until));
  const { hint } = digests.find(({ until }) => until === undefined) ?? {};
  return {
    ...members,
    ...setsOf(given, key.scopes.models),
    state: revokedAt !== undefined ? "revoked" : expiresAt <= now ? "expired" : "active",
    source: isDeclared(key) ? "config" : "store",
    ...(hint !== undefined && { hint }),
    ...facts.get(key.id),
    ...(rotatingUntil > now && { rotatingUntil }),
    version: versionOf(key),
  };
}

/** Names that are listed in a sentence. */
const MOST_NAMES = 3;

function stillValid(keys: readonly KeyEntry[]): string {
  const names = keys.slice(0, MOST_NAMES).map(({ name }) => name);
  const more = keys.length > MOST_NAMES ? ", …" : "";
  const where = keys.some(isDeclared) ? "revoke them, or remove them from the config" : "revoke them";
  return `${keys.length} ${keys.length === 1 ? "key is" : "keys are"} valid (${names.join(", ")}${more}); ${where} first, because then nobody would need one.`;
}
