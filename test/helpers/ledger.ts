/** A worker's ledger with a fake keeper, and calls that need no gateway. */
import { Attempt, Call } from "../../src/core/call.ts";
import { Columns } from "../../src/core/column.ts";
import type { Usage } from "../../src/core/events.ts";
import { NO_USAGE } from "../../src/core/events.ts";
import type { Permissions, Principal } from "../../src/core/principal.ts";
import type { Admitted, RequestSize } from "../../src/core/ledger.ts";
import type { Target } from "../../src/core/provider.ts";
import { localCells } from "../../src/ledger/cells.ts";
import type { PriceRule } from "../../src/ledger/charge.ts";
import type { Budget, Declared, RateLimit } from "../../src/ledger/policy.ts";
import { WorkerLedger } from "../../src/ledger/worker/ledger.ts";
import { DEFAULT_SETTINGS, type LedgerSettings } from "../../src/ledger/worker/settings.ts";
import { TimeOfDay } from "../../src/ledger/worker/call-record.ts";
import { FakeKeeper } from "./fake-keeper.ts";

/** One dollar a million input tokens, two a million output tokens. */
export const RULE: PriceRule = {
  ref: "rule",
  provider: "host",
  model: "model",
  input: 1_000_000,
  output: 2_000_000,
  source: "config",
};

export function budget(id: string, limit: number, more: Partial<Budget> = {}): Budget {
  return {
    id,
    name: id,
    on: { kind: "all", what: "" },
    window: "total",
    zone: "UTC",
    limit,
    mode: "hard",
    onEmpty: "refuse",
    alerts: [],
    source: "config",
    ...more,
  };
}

export function rate(id: string, limits: RateLimit["limits"], more: Partial<RateLimit> = {}): RateLimit {
  return { id, name: id, on: { kind: "all", what: "" }, limits, source: "config", ...more };
}

export interface TestLedgerOptions {
  budgets?: Budget[];
  rates?: RateLimit[];
  rule?: PriceRule | null;
  settings?: Partial<LedgerSettings>;
  /** The time of day. */
  now?: () => number;
  /** The store may have budgets that the ledger does not know yet. */
  awaitsPolicy?: boolean;
}

export function testLedger({
  budgets = [],
  rates = [],
  rule = RULE,
  settings,
  now,
  awaitsPolicy = false,
}: TestLedgerOptions = {}) {
  const keeper = new FakeKeeper();
  const declared: Declared = { keys: [], budgets, rates };
  const ledger = new WorkerLedger(
    {
      declared,
      prices: { lookup: () => rule ?? undefined },
      rules: [],
      settings: { ...DEFAULT_SETTINGS, ...settings },
      books: {
        keepDays: { calls: 30, hours: 90, sessions: 30 },
        prices: {},
        callBytes: 1e9,
        onLoss: "hard-closed",
        metrics: { keys: true, maxSeries: 1000 },
      },
    },
    {
      channel: keeper,
      cells: localCells(64),
      worker: 0,
      clock: new TimeOfDay(now),
      awaitsPolicy,
      columns: new Columns([]),
    },
  );
  keeper.connect();
  return { ledger, keeper, declared };
}

export function targetOf(provider = "host", model = "model", more: Partial<Target> = {}): Target {
  const deployment = { name: provider, baseUrl: "http://host", credentials: {}, weight: 1, priority: 0 };
  return {
    provider: { name: provider, deployments: [deployment], source: "built-in", patterns: [] },
    deployment,
    model,
    lane: "native",
    format: "chat-completions",
    url: "http://host/v1",
    reason: "",
    ...more,
  };
}

export const TARGET = targetOf();

/** A caller with a key. @param may what it may do beside all */
export function principal(
  id: string,
  more: Partial<Principal> = {},
  may: Partial<Permissions> = {},
): Principal {
  const options: Permissions = {
    narrowsPlans: false,
    allowsModel: () => true,
    allowsProvider: () => true,
    allowsEndpoint: () => true,
    isBoundToAddresses: false,
    allowsAddress: () => true,
    scopes: {},
    ...may,
  };
  return { id, name: id, key: { id, name: id }, path: "/", tags: [], options, ...more };
}

let calls = 0;

export function callOf(more: Partial<Pick<Call, "principal" | "stream" | "model">> = {}): Call {
  const call = new Call(`req_${++calls}`, "chat-completions", new Headers({ "user-agent": "Test/1" }));
  return Object.assign(call, { model: "model" }, more);
}

/** 36 tokens of text: 100 tokens of input at most. */
export const SIZE: RequestSize = {
  text: { words: 36, digits: 0, signs: 0, scripts: 0 },
  structure: 0,
  mediaTokens: 0,
  hasTools: false,
  hasServerTools: false,
  maxTokens: 450,
  choices: 1,
};

export function admitted(size: Partial<RequestSize> = {}, session = ""): Admitted {
  const whole = { ...SIZE, ...size };
  return { bytes: 2 * whole.text.words, size: () => whole, affinity: () => session };
}

/** Begins an attempt as the gateway does. @throws what the ledger throws */
export async function begin(
  ledger: WorkerLedger,
  call: Call = callOf(),
  size: Partial<RequestSize> = {},
  target: Target = TARGET,
): Promise<Attempt> {
  const attempt = new Attempt(call, target);
  await ledger.admit(attempt, admitted(size));
  call.attempts.push(attempt);
  attempt.wasSent = true;
  return attempt;
}

export function usage(input: number, output: number): Usage {
  return { ...NO_USAGE, input, output, known: "final" };
}

/** The call ends. */
export function finish(ledger: WorkerLedger, attempt: Attempt, used?: Usage): void {
  const { call } = attempt;
  if (used) attempt.usage = used;
  attempt.firstByteAt ??= performance.now();
  call.outcome ??= "complete";
  call.status ||= 200;
  call.endedAt = performance.now();
  ledger.close(call);
}
