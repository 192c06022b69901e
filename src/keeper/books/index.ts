/** Makes the keeper of the books for a store. */
import type { BooksKeeper } from "../keeper.ts";
import type { StoreSettings } from "../settings.ts";

/** @returns undefined without a store */
export function openBooks(settings: StoreSettings | undefined): BooksKeeper | undefined {
  if (settings === undefined) return undefined;
  return undefined;
}
