/** A gateway's admin API for people with roles: things at four places, and what a request of a person comes to. */
import { FakeBooks, OPERATIONS } from "../../../../../test/helpers/admin.ts";
import { COLUMNS, FEATURES } from "../../../../../test/helpers/features.ts";
import { call as recordOf } from "../../../../../test/keeper/books/make.ts";
import type { AdminBooks } from "../../../../admin/books.ts";
import type { Caller } from "../../../../admin/callers.ts";
import type { AdminOperation } from "../../../../admin/operation.ts";
import { listOperations } from "../../../../admin/operations/index.ts";
import { AdminServer } from "../../../../admin/server.ts";
import { tablesOf } from "../../../../feature/feature.ts";
import { Directory } from "../../../../keeper/reports/directory.ts";
import type { Report } from "../../../../keeper/reports/reports.ts";
import { IN_MEMORY } from "../../../../keeper/settings.ts";
import { nextVersion } from "../../../../keeper/store/policies.ts";
import { sqliteStore } from "../../../../keeper/store/sqlite-store.ts";
import type { Sql } from "../../../../keeper/store/sql.ts";
import type { SqlStore } from "../../../../keeper/store/sql-store.ts";
import { KEY_OPTIONS } from "../../../../ledger/keys/options.ts";
import { isWithin } from "../../../../ledger/keys/path.ts";
import type { KeyKind, Scopes } from "../../../../ledger/policy.ts";
import type { ChangeRows } from "../../../../keeper/seams.ts";
import type { Grant } from "../../groups.ts";
import { personId } from "../../people.ts";
import { PeopleBook } from "../../people-book.ts";
import type { Permitted } from "../../role-table.ts";
import { rightsOf } from "../../roles.ts";
import { keeperPart } from "../../slots.ts";

export const ISSUER = "https://idp.example";
export const ADMIN = "http://127.0.0.1:9348";
const NOW = 1_800_000_000_000;

/** The caller with whom an operation ran last. */
const ran: { caller?: Caller } = {};

export const LISTED: readonly AdminOperation[] = listOperations("0", COLUMNS, KEY_OPTIONS, OPERATIONS).map(
  (operation) => ({
    ...operation,
    handle(request) {
      ran.caller = request.caller;
      return operation.handle(request);
    },
  }),
);

/** Books in memory whose people are in a real store. */
export class WorldBooks extends FakeBooks {
  override readonly offers = {};
  readonly #store: SqlStore;

  constructor(store: SqlStore) {
    super();
    this.#store = store;
    const scim = { answer: async () => new Response(), join: async () => {} };
    const none = { signIn: () => undefined, browser: async () => undefined, refusesKeys: () => false, scim };
    keeperPart.set(this.offers, { book: async () => this.people, ...none });
  }

  readonly people = new PeopleBook({
    change: (_actor, _action, _subject, work: ChangeRows) =>
      this.#store.change((outer) =>
        outer.transaction(async (sql) => void (await work(sql, await nextVersion(sql)))),
      ),
    read: (work) => this.read(work),
    write: (work) => this.#store.change((outer) => outer.transaction(work)),
    settled: async () => true,
  });

  override write<Value>(work: (sql: Sql) => Promise<Value>): Promise<Value> {
    return this.#store.sql.transaction(work);
  }

  override read<Value>(report: Report<Value>): Promise<Value> {
    return report(this.#store.sql, new Directory(this.#store.sql));
  }
}

export async function peopleStore(): Promise<SqlStore> {
  const store = sqliteStore(IN_MEMORY, undefined, await tablesOf(FEATURES));
  await store.open();
  return store;
}

/** A thing of each kind at a place; its id and name contain the name of the place. */
export function put(books: WorldBooks, place: string, path: string): void {
  const key = (id: string, kind: KeyKind) =>
    books.keys.set(id, { id, name: id, kind, path, tags: [], digests: [], scopes: {} });
  key(`key-${place}`, "call");
  key(`admin-${place}`, "admin");
  const on = { kind: "path", what: path } as const;
  const id = `budget-${place}`;
  books.budgets.set(id, {
    ...{ id, name: id, on, window: "month", zone: "UTC", limit: 1e9, mode: "soft", onEmpty: "refuse" },
    ...{ alerts: [], source: "store" },
  });
  const rate = `rate-${place}`;
  books.limits.set(rate, { id: rate, name: rate, on, limits: { rpm: 10 }, source: "store" });
  books.records.push(recordOf({ id: `req_${place}`, path }));
}

/** A person at a place. */
export function addPerson({ people }: WorldBooks, place: string, path: string): Promise<void> {
  return people.add(
    {
      ...{ id: personId(ISSUER, place), issuer: ISSUER, subject: place, name: `person-${place}` },
      ...{ isEmailVerified: false, path, at: NOW },
    },
    "operator",
  );
}

interface ApiError {
  readonly code: string;
  readonly message: string;
}

export interface Asked {
  readonly operation: AdminOperation;
  readonly path: string;
  readonly body?: unknown;
}

export interface Came {
  readonly status: number;
  readonly code?: string;
  readonly message?: string;
  /** With whom it ran; undefined: it did not. */
  readonly caller?: Caller;
  readonly text: string;
}

/** Sends a request with the session of a person. */
export async function ask(
  books: AdminBooks,
  grants: readonly Grant[],
  { operation: { method }, path, body }: Asked,
  table?: Readonly<Record<string, Permitted>>,
  { person = "per_asking", scopes = {} }: { person?: string; scopes?: Scopes } = {},
): Promise<Came> {
  const server = new AdminServer({
    ...{ books, operations: LISTED, now: () => NOW, report: (_, cause) => console.error(cause) },
    // On a listener of this machine alone everybody may read the metrics.
    own: () => ({ host: "0.0.0.0", port: 9348, names: [] }),
    pages: [
      {
        session: async (_request, _books, address) => ({
          ...{ until: NOW + 1, isCurrent: () => true, end: async () => "" },
          ...rightsOf({ person, address, grants, scopes }, table),
        }),
      },
    ],
  });
  delete ran.caller;
  const request = new Request(ADMIN + path, {
    method,
    headers: {
      ...{ host: "127.0.0.1:9348", cookie: "weir-session=x", "x-weir-console": "1", origin: ADMIN },
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const response = await server.handle(request, "127.0.0.1");
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
  if (isStream) await response.body?.cancel();
  const text = isStream ? "" : await response.text();
  const error = response.ok ? undefined : (JSON.parse(text) as { error: ApiError }).error;
  return {
    ...{ status: response.status, text },
    ...(error && { code: error.code, message: error.message }),
    ...ran,
  };
}

/** Whether the caller of a list sees a place. */
export const seesPlace = ({ caller }: Came, path: string): boolean =>
  caller !== undefined && isWithin(path, caller.path);
