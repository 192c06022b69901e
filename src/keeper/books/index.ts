/** Makes the keeper of the books for a store. */
import type { StoreSettings } from "../settings.ts";
import { Books } from "./books.ts";
import { sqliteStore } from "./sqlite-store.ts";

/** @returns undefined without a store */
export function openBooks(settings: StoreSettings | undefined): Books | undefined {
  if (settings === undefined) return undefined;
  const { url, syncMs, cells } = settings;
  return new Books({ store: sqliteStore(url), syncMs, ...(cells !== undefined && { cells }) });
}
