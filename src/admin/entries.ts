/** Parts that the operations on keys, budgets and rate limits share: versions, places in the tree, and who may see what. */
import type {
  Budget,
  KeyDigest,
  KeyEntry,
  Policy,
  RateLimit,
  StoredModel,
  Subject,
} from "../ledger/policy.ts";
import type { Actor } from "../keeper/store/store.ts";
import { digestOf } from "../ledger/keys/form.ts";
import { isWithin } from "../ledger/keys/path.ts";
import type { Caller } from "./callers.ts";
import { isTakenBy, nameFault, normalName } from "../core/name.ts";
import { AdminError, conflict, invalid, notFound } from "../operator/errors.ts";
import { expectSets, modelsOf } from "./model-sets.ts";
import type { AdminRequest } from "./operation.ts";

type Entry = KeyEntry | Budget | RateLimit | StoredModel;

/** The version of an entry: the same content has the same version, in every process. */
export function versionOf(entry: Entry): string {
  // The store does not keep the order of the digests.
  const ordered = "digests" in entry ? { ...entry, digests: byDigest(entry.digests) } : entry;
  return digestOf(JSON.stringify(sorted(ordered))).slice(0, 16);
}

function byDigest(digests: readonly KeyDigest[]): readonly KeyDigest[] {
  return [...digests].sort((a, b) => (a.sha256 < b.sha256 ? -1 : 1));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)).map(([k, v]) => [k, sorted(v)]));
}

/** @throws AdminError 412 if the caller changes an entry that has changed since it read it */
export function expectVersion(headers: Headers, entry: Entry): void {
  const wanted = headers.get("if-match");
  if (wanted === null || wanted === "*") return;
  if (wanted.replace(/^W\//, "").replaceAll('"', "") !== versionOf(entry))
    throw new AdminError(
      412,
      "changed",
      "The entry has changed since it was read; read it again and repeat the change.",
      { path: "header if-match" },
    );
}

export function actorOf({ actor, address }: Caller): Actor {
  return { actor, address };
}

/** Finds a key by id or name among those that the caller sees. @throws AdminError 404 */
export function findKey({ books, caller }: Pick<AdminRequest, "books" | "caller">, id: string): KeyEntry {
  const visible = books.policy().keys.filter(({ path }) => isWithin(path, caller.path));
  const named = normalName(id);
  const found = visible.find((key) => key.id === id) ?? visible.find(({ name }) => name === named);
  if (!found) throw notFound("key", id);
  return found;
}

/** Finds a budget or a rate limit by id or name among those that the caller sees. @throws AdminError 404 */
export function findRule<Rule extends Budget | RateLimit>(
  what: string,
  rules: readonly Rule[],
  { books, caller }: Pick<AdminRequest, "books" | "caller">,
  id: string,
): Rule {
  const visible = rules.filter(({ on }) => seesSubject(caller, on, books.policy()));
  const named = normalName(id);
  const found = visible.find((rule) => rule.id === id) ?? visible.find(({ name }) => name === named);
  if (!found) throw notFound(what, id);
  return found;
}

/** Whether a budget or rate limit counts only calls on the caller's path. */
export function seesSubject({ path }: Caller, { kind, what }: Subject, { keys }: Policy): boolean {
  if (path === "/") return true;
  if (kind === "path") return isWithin(what, path);
  const key = kind === "key" ? keys.find(({ id }) => id === what) : undefined;
  return key !== undefined && isWithin(key.path, path);
}

/** @throws AdminError 403 or 404 if the caller may not limit the calls of a subject, 400 for a set that does not exist */
export function expectSubject(
  { books, caller }: Pick<AdminRequest, "books" | "caller">,
  { kind, what }: Subject,
): Subject {
  const needsNothing = kind === "all" || kind === "session";
  if (needsNothing !== (what === ""))
    throw new AdminError(
      400,
      "invalid_request",
      needsNothing ? `${kind} needs an empty what.` : `${kind} needs what.`,
      { path: "/on/what" },
    );
  const subject = kind === "key" ? { kind, what: findKey({ books, caller }, what).id } : { kind, what };
  if (!seesSubject(caller, subject, books.policy())) throw outside(caller);
  expectSets({ books }, modelsOf(subject), "/on/what");
  return subject;
}

function outside({ path }: Caller): AdminError {
  return new AdminError(403, "not_permitted", `This key may act only on ${path} and below.`);
}

/** @returns the name as weir keeps it @throws AdminError 400 for what is no name, 409 for one that is taken or looks like one */
export function expectFreeName(
  what: string,
  entries: readonly { id: string; name: string }[],
  text: string,
  id?: string,
): string {
  const name = normalName(text);
  const fault = nameFault(name, what !== "key");
  if (fault !== undefined) throw invalid(`The name ${fault}.`, "/name");
  const twin = entries.find((entry) => entry.id !== id && isTakenBy(name, entry.name));
  if (!twin) return name;
  throw conflict(
    twin.name === name
      ? `There is already a ${what} with the name ${name}.`
      : `The name ${name} looks like ${twin.name}, which is already the name of a ${what}.`,
    "/name",
  );
}

/** A page of a list in memory, by ids. @throws AdminError 400 for an unknown cursor */
export function page<Entry extends { id: string }>(
  entries: readonly Entry[],
  { limit, after }: { limit: number; after?: string },
): { entries: Entry[]; next?: string } {
  const rest = [...entries].sort((a, b) => (a.id < b.id ? -1 : 1)).filter(({ id }) => !after || id > after);
  const entriesOfPage = rest.slice(0, limit);
  return {
    entries: entriesOfPage,
    ...(rest.length > limit && { next: entriesOfPage[limit - 1]!.id }),
  };
}

/** A new id: the prefix and 12 characters of [a-z0-9]. */
export function newId(prefix: string): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return prefix + [...bytes].map((byte) => (byte % 36).toString(36)).join("");
}
