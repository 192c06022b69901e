/** Budgets and prices of the config, for the ledger of a worker. */
import { declaredBy } from "../config/declared.ts";
import type { Config } from "../config/schema.ts";
import type { BookSettings } from "../ledger/messages.ts";
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
      ...telemetryOf(config),
    },
  };
}

/** Costs of targets, for routing by cost. */
export function pricesOf({ prices }: Config): ReturnType<typeof tokenPrices> {
  return tokenPrices(prices);
}

/** The secrets are revealed: the link to the keeper is private, and the keeper does not store them. */
function telemetryOf({ traces, metrics }: Config): Pick<BookSettings, "traces"> {
  const { to, headers, share, parent, service } = traces;
  const revealed = Object.entries(headers).map(([name, value]) => [name, value.reveal()]);
  return {
    ...(to !== undefined && {
      traces: {
        ...{ url: tracesUrl(to), headers: Object.fromEntries(revealed), share, parent, service },
        ...(metrics.otlp && { metricsUrl: tracesUrl(to).replace(TRACES, "/metrics") }),
      },
    }),
  };
}

const TRACES = /\/traces\/?$/;

/** Backends name their own paths, which end like the one of the standard. */
function tracesUrl(to: string): string {
  const url = new URL(to);
  if (!TRACES.test(url.pathname)) url.pathname = url.pathname.replace(/\/*$/, "/v1/traces");
  return url.href;
}

function settingsOf({ ledger, traces }: Config, onLoss: LedgerSettings["onLoss"]): LedgerSettings {
  const { tell, maxOutput, assume, serverToolTokens, serverToolCost } = ledger;
  return {
    ...{ tell, maxOutput, onLoss },
    ...(traces.to !== undefined && { traces: true }),
    serverTools: { tokens: serverToolTokens, cost: toNano(serverToolCost)! },
    ...(assume !== "auto" && { assume }),
  };
}
