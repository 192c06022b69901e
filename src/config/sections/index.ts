/** The sections that every build has, in the order of the documents. */
import { budgets, keyBudgets, ledger, rates } from "./budgets.ts";
import { adminKeys, keys } from "./keys.ts";
import { cors, host, listen, names, port, tls, trustedProxies } from "./listening.ts";
import { aliases, fallbacks, modelSets, models, routes, routing } from "./models.ts";
import { admin, metrics } from "./operator.ts";
import { plugins } from "./plugins.ts";
import { prices } from "./prices.ts";
import { include, log, watch, workers } from "./process.ts";
import { providers } from "./providers.ts";
import { limits, messages, responses, strict, timeouts } from "./requests.ts";
import { circuitBreaker, retries } from "./retries.ts";
import { graceMs, stop } from "./stopping.ts";
import { cluster, state, store } from "./store.ts";

export const CORE = [
  include,
  watch,
  host,
  port,
  names,
  keys,
  budgets,
  keyBudgets,
  rates,
  ledger,
  trustedProxies,
  listen,
  tls,
  cors,
  providers,
  aliases,
  routes,
  routing,
  fallbacks,
  models,
  modelSets,
  retries,
  circuitBreaker,
  plugins,
  log,
  limits,
  timeouts,
  messages,
  responses,
  admin,
  adminKeys,
  metrics,
  prices,
  state,
  store,
  cluster,
  workers,
  stop,
  graceMs,
  strict,
] as const;
