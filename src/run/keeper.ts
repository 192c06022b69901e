/** Puts the keeper of the books and the admin API together, for the thread and the process of the keeper. */
import { AdminApi } from "../admin/admin-api.ts";
import type { Door } from "../admin/door.ts";
import { NodeAdmin } from "../admin/node-admin.ts";
import type { NamedOperations } from "../admin/operation.ts";
import type { Column } from "../core/column.ts";
import type { KeyOption } from "../ledger/keys/option.ts";
import { openBooks } from "../keeper/books/index.ts";
import { REPLICAS } from "../keeper/replica-messages.ts";
import type { KeeperPart, NamedTables, StartParts } from "../keeper/seams.ts";
import type { OpenedBooks } from "../keeper/keeper.ts";
import type { KeeperSettings } from "../keeper/settings.ts";

/** What features declare for the admin API. */
export interface OwnDeclarations {
  readonly columns: readonly Column[];
  readonly keyOptions: readonly KeyOption[];
  readonly operations: readonly NamedOperations[];
}

/** What features add to the books and to the admin API. */
export interface OfFeatures {
  tables(): Promise<readonly NamedTables[]>;
  /** Is called with the first request. */
  declarations(): Promise<OwnDeclarations>;
  readonly parts: StartParts;
}

/**
 * @param isProcess the keeper is a process, not a thread of its only worker
 * @param door the admin API listens there already
 * @returns nothing without a store
 */
export async function openKeeper(
  { books: settings, admin }: KeeperSettings,
  isProcess: boolean,
  own: OfFeatures,
  door?: Door,
): Promise<OpenedBooks> {
  if (settings === undefined) return {};
  const { keeper, books, upkeep, host, replicas } = await openBooks(settings, await own.tables());
  const parts = new Map<string, KeeperPart>([...(await own.parts(host)), [REPLICAS, replicas as KeeperPart]]);
  if (admin === undefined) return { books: keeper, parts };
  const { version, metrics, restarts, keys } = admin;
  books.observers.add({ settings: ({ adminNames }) => void (admin.names = adminNames ?? admin.names) });
  const declared = async () => {
    const [{ columnsWith }, { KEY_OPTIONS }, { columns, keyOptions, operations }] = await Promise.all([
      import("./columns.ts"),
      import("../ledger/keys/options.ts"),
      own.declarations(),
    ]);
    return { columns: columnsWith(columns), keyOptions: [...KEY_OPTIONS, ...keyOptions], operations };
  };
  const { offers } = host;
  const node = new NodeAdmin({
    books,
    upkeep,
    offers,
    version,
    isProcess,
    restarts,
    keys,
    metrics,
  });
  return { books: keeper, admin: new AdminApi(node, admin, declared, door), parts };
}
