/** Answers of the admin API for the pages Prices, Config and Store: synthetic, of one small gateway. */
import type {
  Assumptions,
  AuditLog,
  ConfigSource,
  EffectiveConfig,
  Invoices,
  MissingPrices,
  Price,
  Prices,
  Proof,
  Reconciliation,
  Session,
  Store,
  UsageReport,
  WhatIf,
} from "../../../src/operator/index.ts";

const NOW = Date.now();
const MINUTE = 60_000;
const DAY = 86_400_000;

export const SESSION: Session = {
  role: "admin",
  path: "/",
  actor: "console",
  version: "0.1.0",
  port: 9348,
  gateway: "http://127.0.0.1:9347",
};

export const PROOF: Proof = {
  holds: true,
  checks: [
    { name: "rows add up to sums by hour", holds: true, detail: "184,306 calls in 2,118 sums" },
    { name: "charges add up to budgets", holds: true, detail: "12 accounts, $540.281502113" },
    { name: "no charge is booked twice", holds: true, detail: "191,442 attempts" },
    { name: "nothing is held at rest", holds: true, detail: "$0.65 held by 3 running calls" },
  ],
};

export const BROKEN_PROOF: Proof = {
  holds: false,
  checks: [
    ...PROOF.checks.slice(1),
    {
      name: PROOF.checks[0]!.name,
      holds: false,
      detail: "the hour 2026-11-20 11:00 of ci-bot has $0.50 more than its 204 calls",
    },
  ],
};

const SUMS = { input: 1_204_311, cacheRead: 8_930_210, cacheWrite: 610_400 };

const price = (name: string, input: number, output: number, more: Partial<Price> = {}): Price => {
  const [provider = "", model = ""] = name.split("/");
  return { ref: name, provider, model, input, output, source: "litellm 2026-11-15", ...more };
};
export const PRICES: Prices = {
  prices: [
    price("anthropic/claude-sonnet-5", 3e6, 15e6, {
      cacheRead: 300_000,
      cacheWrite: 3_750_000,
      tiers: [{ above: 200_000, input: 6e6, output: 22.5e6 }],
    }),
    price("openai/gpt-5.4", 2.5e6, 15e6, {
      cacheRead: 250_000,
      served: { priority: { input: 5e6 }, flex: {} },
    }),
    price("groq/llama-4-maverick", 200_000, 600_000, { source: "config" }),
  ],
};
export const MISSING: MissingPrices = {
  models: [
    { provider: "ollama", model: "qwen3:32b", calls: 6_924 },
    { provider: "vllm", model: "meta-llama/Llama-4-Scout-17B-16E-Instruct", calls: 41 },
  ],
};

const usage = (
  provider: string,
  model: string,
  calls: number,
  cost: number,
  more = {},
): UsageReport["rows"][number] => ({
  group: { provider, model },
  calls,
  failed: 0,
  refused: 0,
  attempts: calls,
  ...SUMS,
  cacheWrite1h: 0,
  output: 903_110,
  reasoning: 0,
  searches: 0,
  cost,
  reported: 0,
  estimated: 0,
  assumed: 0,
  untiered: 0,
  unpriced: 0,
  ms: 1,
  firstMs: 1,
  ...more,
});
const ROWS = [
  usage("openai", "gpt-5.4", 98_114, 311_204_113_220, { estimated: 8_204_000_000 }),
  usage("anthropic", "claude-sonnet-5", 31_210, 214_881_204_100),
  usage("groq", "llama-4-maverick", 41, 12_345_670, { assumed: 345_670 }),
  usage("ollama", "qwen3:32b", 6_924, 0, { unpriced: 6_924 }),
];
const { group: _, ...TOTAL } = usage("", "", 136_248, 526_085_317_320);
export const USAGE: UsageReport = { rows: ROWS, total: TOTAL, from: NOW - 20 * DAY };

export const WHAT_IF: WhatIf = {
  calls: 98_114,
  now: 311_204_113_220,
  then: 364_101_220_410,
  rows: [
    {
      from: "openai/gpt-5.4",
      to: "anthropic/claude-sonnet-5",
      calls: 98_114,
      now: 311_204_113_220,
      then: 364_101_220_410,
    },
  ],
};
export const INVOICES: Invoices = {
  invoices: [{ provider: "openai", month: "2026-10", amount: 412_330_000_000 }],
};
export const RECONCILIATION: Reconciliation = {
  provider: "openai",
  month: "2026-10",
  invoiced: 412_330_000_000,
  booked: 405_118_204_113,
  difference: 7_211_795_887,
  causes: [
    {
      name: "assumed charges",
      amount: -1_204_000_000,
      detail: "41 attempts that timed out were booked at most",
    },
    { name: "unpriced attempts", amount: 3_100_000_000, detail: "at least, of 204 attempts without a price" },
    { name: "not through weir", amount: 5_315_795_887, detail: "what is left" },
  ],
};

export const CONFIG: EffectiveConfig = {
  file: "/etc/weir/weir.yaml",
  loadedAt: NOW - 3 * 60 * MINUTE,
  options: [
    {
      path: "providers.openai.apiKey",
      value: "***",
      isDefault: false,
      source: "environment",
      where: "OPENAI_API_KEY",
    },
    {
      path: "providers.openai.baseUrl",
      value: "https://api.openai.com/v1",
      isDefault: false,
      source: "file",
      where: "weir.yaml:4",
    },
    {
      path: "routes.smart",
      value: [{ model: "anthropic/claude-sonnet-5", weight: 3 }, { model: "openai/gpt-5.4" }],
      isDefault: false,
      source: "file",
      where: "weir.yaml:11",
    },
    {
      path: "limits.bodyBytes",
      value: 33_554_432,
      default: 16_777_216,
      isDefault: false,
      source: "file",
      where: "weir.yaml:18",
    },
    { path: "port", value: 9400, default: 9347, isDefault: false, source: "flag", where: "--port" },
    { path: "host", value: "127.0.0.1", default: "127.0.0.1", isDefault: true, source: "default" },
    { path: "capture.keys", value: [], default: [], isDefault: true, source: "default" },
  ],
  changes: [
    { path: "limits.bodyBytes", running: 33_554_432, onDisk: 67_108_864, needsRestart: false },
    { path: "workers", running: 2, onDisk: 4, needsRestart: true },
  ],
};
export const CONFIG_SOURCE: ConfigSource = {
  file: "/etc/weir/weir.yaml",
  included: [],
  text: [
    "# The gateway of the team.",
    "providers:",
    "  openai:",
    "    baseUrl: https://api.openai.com/v1",
    "    apiKey: ***",
  ]
    .concat(Array.from({ length: 12 }, (_line, at) => `# line ${at + 6}`))
    .concat(["limits: {bodyBytes: 67108864}", "workers: 4"])
    .join("\n"),
};

export const STORE: Store = {
  kind: "sqlite",
  place: "/var/lib/weir/weir.db",
  bytes: 142_004_224,
  calls: 184_306,
  oldestCall: NOW - 88 * DAY,
  waiting: 0,
  keep: { calls: 90, hours: 400, sessions: 30, callBytes: 2_000_000_000 },
  lastBackup: { at: NOW - DAY, place: "/var/lib/weir/backup/weir-2026-11-21.db", bytes: 139_204_000 },
};
export const LOG: AuditLog = {
  entries: [
    {
      id: "4",
      at: NOW - 12 * MINUTE,
      actor: "console",
      address: "127.0.0.1",
      action: "change",
      subject: "budgets/b1",
      before: { name: "agents, month", limit_nano: 400_000_000_000, version: 1 },
      after: { name: "agents, month", limit_nano: 500_000_000_000, version: 2 },
    },
    {
      id: "3",
      at: NOW - DAY,
      actor: "run-file",
      action: "create",
      subject: "keys/key_41d0",
      after: { name: "ci-bot", path: "/eng/agents" },
    },
    {
      id: "2",
      at: NOW - 2 * DAY,
      actor: "keeper",
      action: "prune",
      subject: "store",
      after: { rows: 1_204 },
    },
  ],
};
export const ASSUMED: Assumptions = {
  entries: [
    {
      at: NOW - DAY,
      account: "b1/2026-11",
      budget: "agents, month",
      amount: 72_140_000,
      why: "worker 2 ended with 3 running calls",
    },
  ],
};

export const MODEL_FACTS = {
  models: [
    {
      id: "anthropic/claude-sonnet-5",
      ...{ places: ["routes.smart[0]"], others: ["openai/gpt-5.4"], name: "Claude Sonnet 5" },
      ...{
        contextWindow: 1_000_000,
        maxOutput: 64_000,
        takes: ["text", "image"],
        can: ["tools", "reasoning"],
      },
      ...{ input: 3_000_000, output: 15_000_000 },
    },
  ],
};
