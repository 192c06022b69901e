/** What the config says about budgets and prices, for the ledger of a worker. */
import { declaredBy } from "./config/declared.ts";
import type { Config } from "./config/schema.ts";
import type { BookSettings } from "./ledger/messages.ts";
import { toNano } from "./ledger/money.ts";
import { PriceBook } from "./ledger/prices/book.ts";
import type { Declaration } from "./ledger/worker/ledger.ts";
import type { LedgerSettings } from "./ledger/worker/settings.ts";
import { storeGroup } from "./state.ts";

const KEEP: Pick<BookSettings, "keepDays" | "callBytes"> = {
  keepDays: { calls: 90, hours: 800, sessions: 30 },
  callBytes: 10 * 1024 ** 3,
};

export function declarationOf(config: Config): Declaration {
  const { metrics, prices } = config;
  const { onLoss } = storeGroup(config);
  return {
    declared: declaredBy(config),
    prices: new PriceBook(prices),
    rules: [],
    settings: settingsOf(config, onLoss),
    books: { ...KEEP, onLoss, metrics, prices },
  };
}

function settingsOf({ ledger }: Config, onLoss: LedgerSettings["onLoss"]): LedgerSettings {
  const { tell, maxOutput, assume, serverToolTokens, serverToolCost } = ledger;
  return {
    ...{ tell, maxOutput, onLoss },
    serverTools: { tokens: serverToolTokens, cost: toNano(serverToolCost)! },
    ...(assume !== "auto" && { assume }),
  };
}
