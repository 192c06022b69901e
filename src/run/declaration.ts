/** Budgets and prices of the config, for the ledger of a worker. */
import { declaredBy } from "../config/declared.ts";
import type { Config } from "../config/schema.ts";
import { toNano } from "../ledger/money.ts";
import { PriceBook } from "../ledger/prices/book.ts";
import { tokenPrices } from "../ledger/prices/token-price.ts";
import type { Declaration } from "../ledger/worker/ledger.ts";
import type { LedgerSettings } from "../ledger/worker/settings.ts";
import { adminNames, storeGroup } from "./home.ts";

export function declarationOf(config: Config): Declaration {
  const { metrics, prices } = config;
  const { callDays, hourDays, sessionDays, callBytes } = config.ledger;
  const { onLoss } = storeGroup(config);
  return {
    declared: declaredBy(config),
    prices: new PriceBook(prices),
    rules: [],
    settings: settingsOf(config, onLoss),
    books: {
      keepDays: { calls: callDays, hours: hourDays, sessions: sessionDays },
      ...{ callBytes, onLoss, metrics, prices, adminNames: adminNames(config) },
    },
  };
}

/** Costs of targets, for routing by cost. */
export function pricesOf({ prices }: Config): ReturnType<typeof tokenPrices> {
  return tokenPrices(prices);
}

function settingsOf({ ledger }: Config, onLoss: LedgerSettings["onLoss"]): LedgerSettings {
  const { tell, maxOutput, assume, serverToolTokens, serverToolCost } = ledger;
  return {
    ...{ tell, maxOutput, onLoss },
    serverTools: { tokens: serverToolTokens, cost: toNano(serverToolCost)! },
    ...(assume !== "auto" && { assume }),
  };
}
