/** The caches of providers: what they saved, and what it cost that prompts were not read from them. */
import type { KeyEntry } from "../../ledger/policy.ts";
import { notFound } from "../../operator/errors.ts";
import { filterOf, seesCall } from "../../admin/filter.ts";
import { answers, type OwnOperations } from "../../admin/operation.ts";
import { cacheReport, cacheSession, cacheSessions } from "../../operator/cache.ts";
import { cacheReport as readReport } from "./report.ts";
import { cacheSession as readSession, cacheSessions as readSessions } from "./sessions.ts";

const operations = [
  answers(cacheReport, async (given) => {
    const { by, ...filter } = given.query;
    const query = { ...filterOf(given, filter), by };
    const report = await given.books.read((reader, names) => readReport(reader, names, query));
    const rows = report.rows.map((row) => named(row, row.group.key, given.books.policy().keys));
    return { json: { ...report, rows } };
  }),
  answers(cacheSessions, async (given) => {
    const { limit, ...filter } = given.query;
    const query = { ...filterOf(given, filter), limit };
    const found = await given.books.read((reader, names) => readSessions(reader, names, query));
    const { keys } = given.books.policy();
    const sessions = found.sessions.map((session) => named(session, session.key, keys));
    return { json: { ...found, sessions } };
  }),
  answers(cacheSession, async ({ books, caller, params }) => {
    const session = await books.read((reader, names) => readSession(reader, names, params.id));
    if (!session || !seesCall({ caller }, session)) throw notFound("session", params.id);
    return { json: named(session, session.key, books.policy().keys) };
  }),
];

export const admin: OwnOperations = { after: ["deleteCaptures", "getCallMoney"], operations };

/** With the name of its key, if that still exists. */
function named<Entry extends object>(
  entry: Entry,
  key: string | undefined,
  keys: readonly KeyEntry[],
): Entry & { keyName?: string } {
  const keyName = keys.find(({ id }) => id === key)?.name;
  return keyName === undefined ? entry : { ...entry, keyName };
}
