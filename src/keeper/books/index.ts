/** Makes the keeper of the books for a store, and what the admin API needs of it. */
import { join } from "node:path";
import type { BooksKeeper } from "../keeper.ts";
import type { Envelope } from "../../core/envelope.ts";
import type { ChangeRows, KeeperHost, NamedTables, SealedColumn } from "../seams.ts";
import { envelopeOf, rewrapAll, sealedColumns, sealFault } from "../store/sealed-rows.ts";
import { IN_MEMORY, isPostgres, type StoreSettings } from "../settings.ts";
import { Replicas } from "./replicas.ts";
import { KEYS } from "./returns.ts";
import { Books } from "./books.ts";
import { Queries } from "./queries.ts";
import { SharedRun } from "./shared-run.ts";
import { sqliteStore } from "../store/sqlite-store.ts";
import { OWN_TABLES } from "../store/own-tables.ts";
import { writeAudit } from "../store/audit-log.ts";
import { nextVersion } from "../store/policies.ts";
import type { Actor, BookStore } from "../store/store.ts";
import { SqlUpkeep, type Upkeep } from "../store/upkeep.ts";

/** The keeper of the books, and what the admin API needs of it. */
export interface BooksParts {
  keeper: BooksKeeper;
  books: Books;
  upkeep: Upkeep;
  host: KeeperHost;
  replicas: Replicas;
}

/** Makes the keeper of the books for a store, which need not be open yet. @param tables of features */
export async function openBooks(
  settings: StoreSettings,
  tables: readonly NamedTables[],
): Promise<BooksParts> {
  const { syncMs, cells, folder } = settings;
  const { store, upkeep } = await openStore(settings, [...OWN_TABLES, ...tables]);
  const books = new Books({
    ...{ store, syncMs },
    ...(cells !== undefined && { cells }),
    ...(folder !== undefined && { refused: join(folder, "refused.jsonl") }),
  });
  books.observers.add({
    settings: (given) => upkeep.keep?.(given),
    lost: (rows) => books.reporter.lost(rows),
  });
  const queries = new Queries(books, upkeep.reports);
  const keeper: BooksKeeper = {
    open: () => books.open(),
    connect(send) {
      const connection = books.connect(send);
      return {
        ended: () => connection.ended(),
        receive(message) {
          if (message.kind === "query") return void queries.answer(message, send);
          connection.receive(message);
        },
      };
    },
    async close(passes) {
      await upkeep.close();
      await books.close(passes);
    },
  };
  let made: { envelope: Envelope | undefined } | undefined;
  // A file with a key is made with the first text.
  const envelope = () => (made ??= { envelope: envelopeOf(settings) }).envelope;
  const sealing = { envelope, columns: sealedColumns(tables) };
  const host = hostOf(books, upkeep, folder, sealing);
  books.observers.add({ refreshed: once(() => checkSeal(host, sealing)) });
  const replicas = new Replicas(tables, (report) => upkeep.reports.read(report), host.report);
  books.observers.add({ refreshed: () => replicas.refresh() });
  return { keeper, books, upkeep, host, replicas };
}

/** How texts of the store are sealed, and where they are. */
interface Sealing {
  envelope(this: void): Envelope | undefined;
  columns: readonly SealedColumn[];
}

/** Reports a store that another key has sealed. */
async function checkSeal({ read, report }: KeeperHost, { envelope, columns }: Sealing): Promise<void> {
  const fault = await read((sql) => sealFault(sql, columns, envelope));
  if (fault !== undefined) report(fault);
}

/** Runs the work with the first call alone. */
function once(work: () => Promise<void>): () => Promise<void> {
  let isDone = false;
  return async () => {
    if (isDone) return;
    isDone = true;
    await work();
  };
}

/** What parts of features may use of the books. @param folder the state folder; absent: everything stays in memory */
export function hostOf(
  books: Books,
  upkeep: Upkeep,
  folder?: string,
  { envelope, columns }: Sealing = { envelope: () => undefined, columns: [] },
): KeeperHost {
  const write: KeeperHost["write"] = (work) => books.store.change((outer) => outer.transaction(work));
  const refreshed = new SharedRun(() => books.refresh());
  return {
    ...(folder !== undefined && { folder }),
    report: (sentence) => books.reporter.other(sentence),
    change: (actor, action, subject, work) => changeRows({ books, refreshed }, actor, action, subject, work),
    read: (work) => upkeep.reports.read(work),
    write,
    envelope,
    rewrap() {
      const sealing = envelope();
      if (sealing) return rewrapAll(columns, sealing, write);
      return Promise.reject(
        new Error("several gateways share this store, and the config has no store.sealKey"),
      );
    },
    settled: async () => (await books.returns.settleAll(KEYS)) === undefined,
    left: () => books.returns.left(),
    note: (...entry) => upkeep.reports.note(...entry),
    keyName: (id) => books.policy.keys.find((key) => key.id === id)?.name ?? id,
    count: (metric, labels, value) => books.observers.counted([{ metric, series: [{ labels, value }] }]),
    warn: (warning) => books.observers.warned(warning),
    observe: (observer) => books.observers.add(observer),
    offers: {},
  };
}

async function changeRows(
  { books, refreshed }: { books: Books; refreshed: SharedRun },
  actor: Actor,
  action: string,
  subject: string,
  work: ChangeRows,
): Promise<void> {
  await books.store.change((outer, now) =>
    outer.transaction(async (sql) => {
      const { before, after } = await work(sql, await nextVersion(sql));
      await writeAudit(sql, now, actor, action, subject, before, after);
    }),
  );
  await refreshed.run();
}

async function openStore(
  { url, folder, leaseMs }: StoreSettings,
  tables: readonly NamedTables[],
): Promise<{ store: BookStore; upkeep: Upkeep }> {
  if (!isPostgres(url)) {
    const store = sqliteStore(url, undefined, tables);
    return { store, upkeep: new SqlUpkeep(store, url) };
  }
  const [{ ClusterStore }, { ServerUpkeep }] = await Promise.all([
    import("../store/postgres/cluster-store.ts"),
    import("../store/postgres/upkeep.ts"),
  ]);
  const spool = folder === undefined ? IN_MEMORY : join(folder, "spool.db");
  const store = new ClusterStore(url, { spool, leaseMs, tables });
  return { store, upkeep: new ServerUpkeep(store, url) };
}
