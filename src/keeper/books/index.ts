/** Makes the keeper of the books for a store. */
import type { StoreSettings } from "../settings.ts";
import { join } from "node:path";
import { IN_MEMORY, isPostgres } from "../settings.ts";
import { Books } from "./books.ts";
import { ClusterStore } from "./postgres/cluster-store.ts";
import { sqliteStore } from "./sqlite-store.ts";
import type { BookStore } from "./store.ts";

/** @returns undefined without a store */
export function openBooks(settings: StoreSettings | undefined): Books | undefined {
  if (settings === undefined) return undefined;
  const { syncMs, cells } = settings;
  return new Books({ store: openStore(settings), syncMs, ...(cells !== undefined && { cells }) });
}

function openStore({ url, folder, leaseMs }: StoreSettings): BookStore {
  if (!isPostgres(url)) return sqliteStore(url);
  return new ClusterStore(url, {
    spool: folder === undefined ? IN_MEMORY : join(folder, "spool.db"),
    leaseMs,
  });
}
