/** Answers of the admin API for the pages Playground, Cache, Prices, Config and Store: synthetic, of one small gateway. */
import type {
  Assumptions,
  AuditLog,
  CacheReport,
  CacheSession,
  CacheSessions,
  CallEntry,
  ConfigSource,
  EffectiveConfig,
  Explained,
  Invoices,
  MissingPrices,
  Models,
  Names,
  Price,
  Prices,
  Proof,
  Reconciliation,
  Routing,
  Session,
  Store,
  UsageReport,
  WhatIf,
} from "../../../src/admin/types.ts";

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
const TOOLS = { reason: "reordered", section: "tools", breaks: 310, cost: 9_214_000_000 } as const;
const SYSTEM = { reason: "changed", section: "system[1]", breaks: 41, cost: 3_880_120_000 } as const;
const LAPSED = { reason: "expired", breaks: 22, cost: 1_204_000_000 } as const;

export const CACHE: CacheReport = {
  from: NOW - 7 * DAY,
  total: {
    calls: 21_940,
    ...SUMS,
    saved: 96_402_113_000,
    breaks: 377,
    lost: 4_120_900,
    lostCost: 15_530_120_000,
  },
  rows: [
    {
      group: { key: "key_41d0" },
      keyName: "ci-bot",
      calls: 9_204,
      input: 811_204,
      cacheRead: 1_930_210,
      cacheWrite: 420_400,
      saved: 11_402_113_000,
      breaks: 310,
      lost: 3_420_000,
      lostCost: 9_214_000_000,
      commonest: TOOLS,
    },
    {
      group: { key: "key_77a1" },
      keyName: "mara, Claude Code",
      calls: 11_210,
      input: 304_120,
      cacheRead: 6_411_000,
      cacheWrite: 180_000,
      saved: 81_120_000_000,
      breaks: 45,
      lost: 612_000,
      lostCost: 5_112_000_000,
      commonest: SYSTEM,
    },
    {
      group: { key: "key_0b12" },
      keyName: "support-assistant-with-a-name-that-is-long",
      calls: 1_526,
      input: 88_987,
      cacheRead: 589_000,
      cacheWrite: 10_000,
      saved: 3_880_000_000,
      breaks: 22,
      lost: 88_900,
      lostCost: 1_204_120_000,
      commonest: LAPSED,
    },
    {
      group: { key: "" },
      calls: 3,
      input: 9_000,
      cacheRead: 0,
      cacheWrite: 0,
      saved: 0,
      breaks: 0,
      lost: 0,
      lostCost: 0,
    },
  ],
};

const LOSING = {
  session: "9f3a17c2e04b55d1",
  key: "key_41d0",
  keyName: "ci-bot",
  path: "/eng/agents",
};
export const CACHE_SESSIONS: CacheSessions = {
  sessions: [
    {
      ...LOSING,
      client: "openai-python/2.4.1",
      lastAt: NOW - 4 * MINUTE,
      breaks: 12,
      lost: 412_000,
      lostCost: 1_214_000_000,
      commonest: TOOLS,
    },
    {
      session: "01c2e04b55d19f3a",
      key: "key_77a1",
      keyName: "mara, Claude Code",
      path: "/eng",
      client: "claude-cli/2.1.0",
      lastAt: NOW - 3 * 60 * MINUTE,
      breaks: 2,
      lost: 61_200,
      lostCost: 306_120_000,
      commonest: SYSTEM,
    },
  ],
};

const turn = (
  at: number,
  input: number,
  cacheRead: number,
  cacheWrite: number,
): CacheSession["calls"][number] => ({
  id: `req_${String(at).padStart(22, "0")}`,
  startedAt: NOW - 40 * MINUTE + at * MINUTE,
  ms: 4_000,
  model: "smart",
  provider: "anthropic",
  deployment: "anthropic",
  status: 200,
  input,
  cacheRead,
  cacheWrite,
  cost: input * 3_000 + cacheRead * 300 + cacheWrite * 3_750,
});
export const CACHE_SESSION: CacheSession = {
  ...LOSING,
  firstAt: NOW - 40 * MINUTE,
  lastAt: NOW - 4 * MINUTE,
  count: 9,
  calls: [
    turn(0, 412, 0, 38_900),
    turn(1, 210, 38_900, 1_204),
    turn(2, 188, 40_104, 990),
    turn(3, 204, 41_094, 1_310),
    turn(4, 199, 42_404, 1_002),
    {
      ...turn(6, 43_410, 0, 0),
      break: { reason: "reordered", section: "tools", afterMs: 91_000, tokens: 43_406, cost: 117_196_200 },
    },
    turn(7, 230, 43_400, 800),
    {
      ...turn(22, 512, 0, 44_900),
      break: { reason: "expired", afterMs: 372_000, tokens: 44_200, cost: 152_490_000 },
    },
    turn(23, 230, 45_100, 800),
  ],
};

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
