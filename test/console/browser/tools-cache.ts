/** Answers of the admin API for the page Cache: synthetic. */
import type { CacheReport, CacheSession, CacheSessions } from "../../../src/operator/index.ts";

const NOW = Date.now();
const MINUTE = 60_000;
const DAY = 86_400_000;

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
