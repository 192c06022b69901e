/** What the config says about budgets and prices, for the ledger of a worker. */
import { declaredBy } from "./config/declared.ts";
import type { Config } from "./config/schema.ts";
import type { BookSettings } from "./ledger/messages.ts";
import { PriceBook } from "./ledger/prices/book.ts";
import type { Declaration } from "./ledger/worker/ledger.ts";
import { DEFAULT_SETTINGS } from "./ledger/worker/settings.ts";

const BOOKS: BookSettings = {
  keepDays: { calls: 90, hours: 800, sessions: 30 },
  callBytes: 10 * 1024 ** 3,
  onLoss: "hard-closed",
  metrics: { keys: true, maxSeries: 10_000 },
};

export function declarationOf(config: Config): Declaration {
  return {
    declared: declaredBy(config),
    prices: new PriceBook(config.prices),
    rules: [],
    settings: DEFAULT_SETTINGS,
    books: BOOKS,
  };
}
