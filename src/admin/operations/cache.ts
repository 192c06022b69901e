/** The caches of providers: what they saved, and what it cost that prompts were not read from them. */
import { Type } from "@sinclair/typebox";
import { CACHE_GROUPS } from "../../keeper/reports/types.ts";
import type { KeyEntry } from "../../ledger/policy.ts";
import { notFound } from "../../operator/errors.ts";
import { filterOf, seesCall } from "../filter.ts";
import { operation } from "../operation.ts";
import { FILTER, PAGE, request, words } from "../../operator/shapes.ts";
import { CacheReport, CacheSession, CacheSessions } from "../../operator/cache.ts";

export const cacheOperations = [
  operation({
    method: "GET",
    path: "/admin/v1/cache",
    id: "cacheReport",
    summary: "What the caches of providers saved, and what was lost",
    access: "read",
    query: request({
      by: Type.Array(words(CACHE_GROUPS), {
        default: [],
        maxItems: 3,
        uniqueItems: true,
        description: `Groups, with commas: ${CACHE_GROUPS.join(", ")}.`,
      }),
      ...FILTER,
    }),
    answer: { name: "CacheReport", schema: CacheReport },
    errors: ["not_found"],
    async handle(given) {
      const { by, ...filter } = given.query;
      const report = await given.books.cacheReport({ ...filterOf(given, filter), by });
      const rows = report.rows.map((row) => named(row, row.group.key, given.books.policy().keys));
      return { json: { ...report, rows } };
    },
  }),
  operation({
    method: "GET",
    path: "/admin/v1/cache/sessions",
    id: "cacheSessions",
    summary: "Sessions whose prompts were not read from a cache",
    access: "read",
    query: request({ limit: PAGE.limit, ...FILTER }),
    answer: { name: "CacheSessions", schema: CacheSessions },
    errors: ["not_found"],
    async handle(given) {
      const { limit, ...filter } = given.query;
      const found = await given.books.cacheSessions({ ...filterOf(given, filter), limit });
      const { keys } = given.books.policy();
      const sessions = found.sessions.map((session) => named(session, session.key, keys));
      return { json: { ...found, sessions } };
    },
  }),
  operation({
    method: "GET",
    path: "/admin/v1/cache/sessions/{id}",
    id: "cacheSession",
    summary: "The calls of a session, with what each read from a cache",
    access: "read",
    answer: { name: "CacheSession", schema: CacheSession },
    errors: ["not_found"],
    async handle({ books, caller, params }) {
      const session = await books.cacheSession(params["id"]!);
      if (!session || !seesCall({ caller }, session)) throw notFound("session", params["id"]!);
      return { json: named(session, session.key, books.policy().keys) };
    },
  }),
];

/** With the name of its key, if that still exists. */
function named<Entry extends object>(
  entry: Entry,
  key: string | undefined,
  keys: readonly KeyEntry[],
): Entry & { keyName?: string } {
  const keyName = keys.find(({ id }) => id === key)?.name;
  return keyName === undefined ? entry : { ...entry, keyName };
}
