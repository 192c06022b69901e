/** The entries of the audit log that a caller on a path sees: those whose subject lies on it, and those that it caused itself. */
import { isObject } from "../core/json.ts";
import { isWithin } from "../ledger/keys/path.ts";
import type { Policy, Subject } from "../ledger/policy.ts";
import type { AuditEntry } from "../keeper/reports/reports.ts";
import type { AdminBooks } from "./books.ts";
import type { AdminRequest, OwnOperations } from "./operation.ts";

/** Rows that are read at once, and most that one request reads. */
const SLICE = 500;
const MOST_READ = 10_000;

type Page = Awaited<ReturnType<AdminBooks["auditLog"]>>;

/** @param own of features, which know where their own subjects lie @returns perhaps fewer than `limit` although more follow */
export async function seenEntries(
  { books, caller }: Pick<AdminRequest, "books" | "caller">,
  query: { limit: number; after?: string },
  own: readonly Pick<OwnOperations, "placeOf">[],
): Promise<Page> {
  if (caller.path === "/") return books.auditLog(query);
  const policy = books.policy();
  const seen: AuditEntry[] = [];
  const known = new Map<string, Promise<readonly string[]>>();
  const ownPlaces = (subject: string) => {
    const found = known.get(subject) ?? placesBy(own, books, subject);
    known.set(subject, found);
    return found;
  };
  let { after } = query;
  for (let read = 0; read < MOST_READ; read += SLICE) {
    const page = await books.auditLog({ limit: SLICE, ...(after !== undefined && { after }) });
    for (const entry of page.entries) {
      after = entry.id;
      const places = [...placesOf(entry, policy), ...(await ownPlaces(entry.subject))];
      const isBelow = places.length > 0 && places.every((place) => isWithin(place, caller.path));
      if (!isBelow && entry.actor !== caller.actor) continue;
      seen.push(entry);
      if (seen.length === query.limit) return { entries: seen, next: entry.id };
    }
    if (page.next === undefined) return { entries: seen };
  }
  return { entries: seen, ...(after !== undefined && { next: after }) };
}

async function placesBy(own: readonly Pick<OwnOperations, "placeOf">[], books: AdminBooks, subject: string) {
  const places = await Promise.all(own.map((one) => one.placeOf?.(books, subject)));
  return places.filter((place) => place !== undefined);
}

/** Where the subject of an entry lies, and where it lay before. */
function placesOf({ subject, before, after }: AuditEntry, policy: Policy): string[] {
  const [table, id] = subject.split("/");
  const present =
    table === "keys"
      ? policy.keys.find((key) => key.id === id)?.path
      : policy[table === "budgets" ? "budgets" : "rates"].find((rule) => rule.id === id)?.on;
  return [present, before, after].flatMap((value) => {
    if (typeof value === "string") return [value];
    return isObject(value) ? placeIn(value, policy) : [];
  });
}

/** Of a row of the store, or of an entry of the API. */
function placeIn(value: Readonly<Record<string, unknown>>, policy: Policy): string[] {
  const { path, on, kind, what, on_kind: rowKind, on_what: rowWhat } = value;
  if (typeof path === "string") return [path];
  if (isObject(on)) return placeIn(on, policy);
  const subject = { kind: rowKind ?? kind, what: rowWhat ?? what } as Partial<Subject>;
  if (subject.kind === "path") return [subject.what ?? "/"];
  if (subject.kind === "key") return [policy.keys.find(({ id }) => id === subject.what)?.path ?? "/"];
  return subject.what === undefined ? [] : ["/"];
}
