/** Makes the keeper of the books for a store, and what the admin API needs of it. */
import { join } from "node:path";
import { AdminApi } from "../admin-api.ts";
import { CaptureAdmin, type CaptureAdminOptions } from "../captures/admin.ts";
import { Captures } from "../captures/captures.ts";
import type { BooksKeeper, OpenedBooks } from "../keeper.ts";
import { IN_MEMORY, isPostgres, type KeeperSettings, type StoreSettings } from "../settings.ts";
import { Books } from "./books.ts";
import { NodeAdmin, type Upkeep } from "./node-admin.ts";
import { Queries } from "./queries.ts";
import { sqliteStore } from "../store/sqlite-store.ts";
import type { BookStore } from "../store/store.ts";
import { watchBooks } from "./telemetry.ts";
import { SqlUpkeep } from "../store/upkeep.ts";

/** @param isProcess the keeper is a process, not a thread of its only worker @returns nothing without a store */
export async function openBooks(
  { books: settings, admin }: KeeperSettings,
  isProcess: boolean,
): Promise<OpenedBooks> {
  if (settings === undefined) return {};
  const { syncMs, cells, folder } = settings;
  const { store, upkeep } = await openStore(settings);
  const books = new Books({
    ...{ store, syncMs },
    ...(cells !== undefined && { cells }),
    ...(folder !== undefined && { refused: join(folder, "refused.jsonl") }),
  });
  books.observers.add({ settings: (given) => upkeep.keep?.(given) });
  const telemetry = watchBooks(books);
  const queries = new Queries(books, upkeep.reports);
  const captures = new Captures({
    ...(folder !== undefined && { folder }),
    report: (sentence) => books.reporter.other(sentence),
  });
  const keeper: BooksKeeper = {
    open: () => books.open(),
    connect(send) {
      const connection = books.connect(send);
      return {
        ended: () => connection.ended(),
        receive(message) {
          if (message.kind === "query") return void queries.answer(message, send);
          if (message.kind === "captured") return captures.put(message.batch);
          if (message.kind === "declare") telemetry.settings(message.settings);
          connection.receive(message);
        },
      };
    },
    async close() {
      captures.close();
      await upkeep.close();
      await Promise.all([telemetry.close(), books.close()]);
    },
  };
  if (admin === undefined) return { books: keeper };
  const { version, metrics, restarts, keys } = admin;
  books.observers.add({ settings: ({ adminNames }) => void (admin.names = adminNames ?? admin.names) });
  const note: CaptureAdminOptions["note"] = (...entry) => upkeep.reports.note(...entry);
  const node = new NodeAdmin({
    captures: new CaptureAdmin({ captures, note }),
    ...{ books, upkeep, version, isProcess, restarts, keys, metrics },
  });
  return { books: keeper, admin: new AdminApi(node, admin) };
}

async function openStore({
  url,
  folder,
  leaseMs,
}: StoreSettings): Promise<{ store: BookStore; upkeep: Upkeep }> {
  if (!isPostgres(url)) {
    const store = sqliteStore(url);
    return { store, upkeep: new SqlUpkeep(store, url) };
  }
  const [{ ClusterStore }, { ServerUpkeep }] = await Promise.all([
    import("../store/postgres/cluster-store.ts"),
    import("../store/postgres/upkeep.ts"),
  ]);
  const spool = folder === undefined ? IN_MEMORY : join(folder, "spool.db");
  const store = new ClusterStore(url, { spool, leaseMs });
  return { store, upkeep: new ServerUpkeep(store, url) };
}
