/** Answers requests of the page in place of weir: with data, with nothing, with a failure, or never. */
import type { Answer } from "../browser-page.ts";
import * as tools from "./tools-answers.ts";
import * as cache from "./tools-cache.ts";
import * as trial from "./tools-trial.ts";

export type FakeState = "full" | "empty" | "failed" | "loading";

type Answers = Readonly<Record<string, unknown>>;

/** By method and path below `/admin/v1`. */
const FULL: Answers = {
  "GET /cache": cache.CACHE,
  "GET /cache/sessions": cache.CACHE_SESSIONS,
  [`GET /cache/sessions/${cache.CACHE_SESSION.session}`]: cache.CACHE_SESSION,
  "GET /usage": tools.USAGE,
  "GET /prices": tools.PRICES,
  "GET /prices/missing": tools.MISSING,
  "POST /whatif": tools.WHAT_IF,
  "GET /invoices": tools.INVOICES,
  "POST /invoices": tools.RECONCILIATION,
  "GET /config": tools.CONFIG,
  "GET /config/source": tools.CONFIG_SOURCE,
  "POST /config/reload": { ok: true, message: "Reloaded." },
  "GET /audit/books": tools.PROOF,
  "GET /audit/log": tools.LOG,
  "GET /assumptions": tools.ASSUMED,
  "GET /capture/rules": { rules: [] },
  "GET /model-facts": tools.MODEL_FACTS,
  "GET /store": tools.STORE,
  "POST /store/check": { holds: true, checks: [{ name: "integrity_check", holds: true, detail: "ok" }] },
  "GET /models": trial.MODELS,
  "GET /names": trial.NAMES,
  "GET /routing/smart": trial.ROUTING,
  "POST /explain": trial.EXPLAINED,
  [`GET /calls/${trial.CALL.id}`]: trial.CALL,
  "GET /overview": { open: true, gateway: "http://127.0.0.1:9347", notes: [] },
};

const NO_CACHE = {
  calls: 0,
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  saved: 0,
  breaks: 0,
  lost: 0,
  lostCost: 0,
};
const EMPTY: Answers = {
  ...FULL,
  "GET /cache": { rows: [], total: NO_CACHE },
  "GET /cache/sessions": { sessions: [] },
  "GET /usage": { rows: [], total: { ...tools.USAGE.total, calls: 0, attempts: 0, cost: 0 } },
  "GET /prices/missing": { models: [] },
  "GET /invoices": { invoices: [] },
  "GET /config": {
    loadedAt: Date.now(),
    options: tools.CONFIG.options.filter((one) => one.isDefault),
    changes: [],
  },
  "GET /audit/log": { entries: [] },
  "GET /assumptions": { entries: [] },
  "GET /capture/rules": { rules: [] },
  "GET /model-facts": { models: [] },
  "GET /store": { kind: "memory", place: "memory", bytes: 0, calls: 0, waiting: 0 },
  "GET /names": { ...trial.NAMES, keys: [] },
};

const FAILURE = { error: { code: "unavailable", message: "The store did not answer within 2 s." } };

/** @returns what `BrowserPage.answer` asks for */
export function fakeOf(state: FakeState): (url: URL, method: string) => Answer | undefined {
  return (url, method) => {
    if (!url.pathname.startsWith("/admin/v1/")) return undefined;
    const path = url.pathname.slice("/admin/v1".length);
    if (path === "/session") return { body: tools.SESSION };
    if (state === "failed") return { status: 503, body: FAILURE };
    if (state === "loading") return "never";
    if (path === "/playground")
      return {
        type: "text/event-stream",
        headers: { "x-weir-relayed": "1", "x-request-id": trial.CALL.id },
        body: trial.STREAM,
      };
    const answer = (state === "empty" ? EMPTY : FULL)[`${method} ${path}`];
    return answer === undefined
      ? { status: 404, body: { error: { code: "not_found", message: `No ${path}.` } } }
      : { body: answer };
  };
}
