/** Keys: create, list, change, rotate, revoke, import. The text of a key is answered once and is stored nowhere. */
import {
  adoptKey,
  changeKey as changedKey,
  createKey as newKey,
  KeyError,
  type Maker,
  revokeKey as revokedKey,
  rotateKey as rotatedKey,
} from "../../ledger/keys/make.ts";
import { isWithin } from "../../ledger/keys/path.ts";
import { unenforcedSentence, unknownIn } from "../../ledger/keys/scopes.ts";
import { type Budget, isDeclared, type KeyEntry, type RateLimit } from "../../ledger/policy.ts";
import type { AdminBooks } from "../books.ts";
import { actorOf, expectFreeName, expectVersion, findKey, newId, page, versionOf } from "../entries.ts";
import { AdminError, conflict, declared, invalid } from "../../operator/errors.ts";
import { budgetOfPath } from "../key-budget.ts";
import { fieldsOf, restrictionsOf } from "../key-options.ts";
import { limitsOf } from "../key-limits.ts";
import { expectSets, setsOf } from "../model-sets.ts";
import { modelWarnings } from "../model-warnings.ts";
import { type AdminRequest, answers } from "../operation.ts";
import {
  changeKey,
  createKey,
  getKey,
  importKeys,
  type Key,
  listKeys,
  openGateway,
  revokeKey,
  rotateKey,
} from "../../operator/keys.ts";
import { expectAmount, newBudget } from "./budgets.ts";
import type { Frozen } from "../../operator/contract.ts";

type Facts = Awaited<ReturnType<AdminBooks["keyFacts"]>>;
type Given = Pick<AdminRequest, "books" | "caller" | "headers" | "now" | "keyOptions">;

export const keyOperations = [
  answers(listKeys, async (given) => {
    const { books, caller, query } = given;
    const visible = books
      .policy()
      .keys.filter(({ path }) => isWithin(path, caller.path) && isWithin(path, query.path ?? "/"))
      .filter(({ revokedAt }) => query.revoked || revokedAt === undefined);
    const { entries, next } = page(visible, query);
    const facts = await books.keyFacts();
    const limits = query.limits ? await limitsOf(given, entries) : undefined;
    const views = entries.map((key) => withLimits(viewOf(key, facts, given), limits));
    const fields = query.after === undefined ? fieldsOf(given.keyOptions ?? []) : [];
    return { json: { keys: views, ...(next && { next }), ...(fields.length > 0 && { options: fields }) } };
  }),
  answers(createKey, async (given) => {
    const { books, caller, now } = given;
    const { budget: amount, rates: limits, ...wanted } = given.body;
    const { keys, budgets, rates } = books.policy();
    if (wanted.kind === undefined || wanted.kind === "call") expectStored(books);
    expectSets(given, wanted.scopes?.models, "/scopes/models");
    const { entry, text } = checked(() => newKey(wanted, makerOf(given), now));
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
  }),
  answers(getKey, async (given) => {
    const key = findKey(given, given.params.id);
    const { json, version } = await answerOf(key, given);
    const limits = given.query.limits ? await limitsOf(given, [key]) : undefined;
    return { json: withLimits(json, limits), version };
  }),
  answers(changeKey, async (given) => {
    const { books, body } = given;
    const key = storedKey(given, given.params.id);
    if (body.name !== undefined) expectFreeName("key", books.policy().keys, body.name, key.id);
    const added = body.scopes?.models?.filter((text) => !key.scopes.models?.includes(text));
    expectSets(given, added, "/scopes/models");
    const changed = checked(() => changedKey(key, body, makerOf(given)));
    const { json, version } = await save(changed, given);
    const warned = await modelWarnings(given, `the key ${changed.name}`, body.scopes?.models);
    return { json: { ...json, ...warned }, version };
  }),
  answers(revokeKey, async (given) => {
    const { caller, query, now } = given;
    const key = storedKey(given, given.params.id);
    if (key.revokedAt !== undefined && (key.cut || !query.cut)) return answerOf(key, given);
    return save(
      checked(() => revokedKey(key, query.cut, caller, now)),
      given,
    );
  }),
  answers(rotateKey, async (given) => {
    const { caller, body, now } = given;
    const key = storedKey(given, given.params.id);
    if (key.person !== undefined && key.person !== caller.actor)
      throw conflict(`The key ${key.name} belongs to a person, who alone can rotate it; revoke it instead.`);
    const { entry, text } = checked(() => rotatedKey(key, body.graceMs, caller, now));
    return createdOf(entry, text, given);
  }),
  answers(openGateway, async ({ books, caller, now }) => {
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
  }),
  answers(importKeys, async (given) => {
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

/** @param patterns new ones; the answer says which of them match no model */
async function createdOf(key: KeyEntry, secret: string, given: Given, patterns?: readonly string[]) {
  await given.books.saveKey(key, actorOf(given.caller));
  const { json, version } = await answerOf(key, given);
  const warned = await modelWarnings(given, `the key ${key.name}`, patterns);
  return { json: { key: { ...json, ...warned }, secret, closed: given.books.policy().closed }, version };
}

/** Who makes or changes a key, with the sets that its scopes may name. */
function makerOf({ books, caller, keyOptions }: Given): Maker {
  return { ...caller, sets: books.policy().modelSets, ...(keyOptions && { options: keyOptions }) };
}

async function answerOf(key: KeyEntry, given: Given) {
  const json = viewOf(key, await given.books.keyFacts(), given);
  return { json, version: json.version };
}

/** A key without its digests. */
function viewOf(
  key: KeyEntry,
  facts: Facts,
  given: Pick<Given, "books" | "now" | "keyOptions">,
): Frozen<Key> {
  const { now, keyOptions = [] } = given;
  const restrictions = restrictionsOf(key.scopes, keyOptions);
  const unknown = unknownIn(key.scopes, keyOptions);
  const { digests, cut: _, ...members } = key;
  const { expiresAt = Infinity, revokedAt } = key;
  const rotatingUntil = Math.max(0, ...digests.map(({ until = 0 }) => until));
  const { hint } = digests.find(({ until }) => until === undefined) ?? {};
  return {
    ...members,
    ...setsOf(given, key.scopes.models),
    ...(restrictions.length > 0 && { restrictions }),
    ...(unknown !== undefined && { warnings: [unenforcedSentence(key.name, unknown)] }),
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
