/** All runs of `bun run nightly`, in their order: one line of its table each. */
import { existsSync } from "node:fs";

/** What a run found, as far as its output says. */
export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

export interface Run {
  name: string;
  /** What it shows, for `--list`. */
  about: string;
  /** Words of the command behind the executable of Bun. */
  command: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** Why it cannot run on this machine; undefined where it can. */
  missing?: () => Promise<string | undefined>;
  /** Reads the counts from what it printed. Default: the sums of `bun test`. */
  count?: (output: string) => Counts | undefined;
}

const test = (...paths: string[]) => ["test", "--timeout", "600000", ...paths];

/** Files whose long form is a load or a count of calls: `bun run stress`. */
export const STRESS = [
  "test/books/stress.test.ts",
  "test/books/keeper-away.test.ts",
  "test/keeper/processes.test.ts",
  "test/keeper/books/kill.test.ts",
  "test/cli/keeper-chains.test.ts",
  "test/wire/mixed-endings.test.ts",
  "src/features/paid-once/test/distinct.slow.test.ts",
  "src/features/batches/test/crash.slow.test.ts",
  "src/features/tools/test/attack/many-sessions.slow.test.ts",
  "test/admin/health-open.slow.test.ts",
];

/** Folders whose tests start weir as a process again and again: a push runs them with the binary. */
export const STARTING = [
  "test/cli/",
  "test/books/",
  "test/documents/",
  "src/features/drill/",
  "src/features/exec/",
  "src/features/probe/",
  "src/features/response-cache/test/books.test.ts",
  "src/features/tape/test/command.test.ts",
];

async function missingRecordings(): Promise<string | undefined> {
  const { haveRecordings, NO_RECORDINGS } = await import("../helpers/recordings.ts");
  return haveRecordings ? undefined : NO_RECORDINGS;
}

async function missingConformance(): Promise<string | undefined> {
  const { haveDocument, NO_DOCUMENT } = await import("../formats/chat-completions/openapi.ts");
  return (await missingRecordings()) ?? (haveDocument ? undefined : NO_DOCUMENT);
}

/** Installs PostgreSQL where that is possible, as the tests would. */
async function missingServer(): Promise<string | undefined> {
  return (await import("../helpers/postgres.ts")).missingPostgres;
}

async function missingBrowser(kind: "chromium" | "firefox"): Promise<string | undefined> {
  return (await import("../console/browser.ts")).missingBrowser(kind);
}

async function missingSystem(): Promise<string | undefined> {
  return existsSync("/proc/self/fd") ? undefined : "it reads /proc, which only Linux has";
}

export const RUNS: readonly Run[] = [
  {
    name: "tests",
    about: "all tests, with the long budgets (LONG_TESTS)",
    command: ["test/run.ts"],
    env: { LONG_TESTS: "1" },
  },
  {
    name: "sources",
    about: "the tests that start weir as a process, from source instead of the binary",
    command: test("--parallel=3", ...STARTING),
    env: { ALL_TESTS: "1" },
  },
  {
    name: "deletion",
    about: "weir without the folder of each feature: types, build, help, schema, fast tests",
    command: ["src/build/deletion.ts", "--all"],
    count: (output) => ({
      passed: output.match(/\bpassed [\d.]+ s/g)?.length ?? 0,
      failed: output.match(/\bFAILED [\d.]+ s/g)?.length ?? 0,
      skipped: 0,
    }),
  },
  {
    name: "walk",
    about: "how many files one call enters, in its own language and translated",
    command: ["test/walk/run.ts"],
  },
  {
    name: "stress",
    about: "loads and kills for as long as they once needed to find a fault (LONG_STRESS)",
    command: test(...STRESS),
    env: { LONG_STRESS: "1" },
    missing: missingSystem,
  },
  {
    name: "spellings",
    about: "every spelling of a request's JSON (LONG_SPELLINGS)",
    command: test("test/wire/spellings.test.ts"),
    env: { LONG_TESTS: "1", LONG_SPELLINGS: "1" },
  },
  {
    name: "delays",
    about: "a wait at every place of a stream (LONG_DELAYS)",
    command: test("test/wire/delayed-streams.test.ts"),
    env: { LONG_DELAYS: "1" },
  },
  {
    name: "conformance",
    about: "recorded traffic of vendors through all lanes",
    command: ["test/conformance/run.ts"],
    missing: missingConformance,
    count: countReplays,
  },
  {
    name: "planted",
    about: "faults that are planted in the codecs, over the recordings: each must be reported",
    command: ["test/conformance/run.ts", "--mutate"],
    missing: missingConformance,
    count: countPlanted,
  },
  {
    name: "proof",
    about: "the whole matrix of weir guards prove: values planted in all formats, places and cuts of streams",
    command: ["src/main.ts", "guards", "prove", "--all"],
    count: countCells,
  },
  {
    name: "holes",
    about: "faults that are planted in the guards: a proof must find each, and in 1,000 seeds nothing else",
    command: ["src/features/guards/test/planted/main.ts", "--seeds", "1000"],
    count: countHoles,
  },
  {
    name: "users",
    about: "100,000 calls of twenty users with values that guards replace, half of them aborted",
    command: test("src/features/guards/test/twenty-users.slow.test.ts"),
    env: { GUARDED_CALLS: "100000" },
  },
  {
    name: "faults",
    about: "the promised figures under attack, failure and load",
    command: ["test/faults/run.ts"],
    missing: missingSystem,
    count: countGoals,
  },
  {
    name: "chains",
    about: "10,000 conversations of stored answers while processes are killed",
    command: ["test/faults/stored-chains.ts", "10000"],
    missing: missingSystem,
    count: () => undefined,
  },
  {
    name: "tally",
    about: "20,000 calls against the provider's own bill, with 60 kills",
    command: ["test/books/tally/run.ts"],
    missing: missingSystem,
    count: () => undefined,
  },
  {
    name: "soak",
    about: "ten minutes of mixed faults: no descriptor is left open, memory does not grow",
    command: ["test/faults/soak.ts"],
    missing: missingSystem,
    count: () => undefined,
  },
  {
    name: "postgres",
    about: "the books on PostgreSQL (LONG_POSTGRES)",
    command: test("test/postgres"),
    env: { LONG_POSTGRES: "1" },
    missing: missingServer,
  },
  {
    name: "browser",
    about: "the console in Chromium (LONG_BROWSER)",
    command: test("test/console/browser", "src/features/tools/test/console"),
    env: { LONG_BROWSER: "1" },
    missing: () => missingBrowser("chromium"),
  },
  {
    name: "firefox",
    about: "the console in Firefox (LONG_BROWSER, BROWSER)",
    command: test("test/console/browser", "src/features/tools/test/console"),
    env: { LONG_BROWSER: "1", BROWSER: "firefox" },
    missing: () => missingBrowser("firefox"),
  },
];

/** The last sums that `bun test` printed; `test/run.ts` prints those of all its parts last. */
export function countTests(output: string): Counts | undefined {
  const last = (word: string) => [...output.matchAll(new RegExp(`^ *(\\d+) ${word}$`, "gm"))].at(-1)?.[1];
  const [passed, failed] = [last("pass"), last("fail")];
  if (passed === undefined || failed === undefined) return undefined;
  return { passed: Number(passed), failed: Number(failed), skipped: Number(last("skip") ?? 0) };
}

/** `12 rows, 1 that do not hold, 2 goals without a row.` */
export function countGoals(output: string): Counts | undefined {
  const [, rows, broken, without] =
    /^(\d+) rows, (\d+) that do not hold, (\d+) goals without a row\.$/m.exec(output) ?? [];
  if (rows === undefined) return undefined;
  return { passed: Number(rows) - Number(broken), failed: Number(broken), skipped: Number(without) };
}

/** `141120 cells, 2000000 assertions in 1800.0 s, 0 do not hold`: assertions. */
export function countCells(output: string): Counts | undefined {
  const [, all, broken] = /^\d+ cells, (\d+) assertions in [\d.]+ s, (\d+) do not hold/m.exec(output) ?? [];
  if (all === undefined) return undefined;
  return { passed: Number(all) - Number(broken), failed: Number(broken), skipped: 0 };
}

/** `89 faults, 89 found; 1000 seeds, 0 false alarms` */
export function countHoles(output: string): Counts | undefined {
  const pattern = /^(\d+) faults, (\d+) found; (\d+) seeds, (\d+) false alarms$/m;
  const [, faults, found, seeds, alarms] = pattern.exec(output)?.map(Number) ?? [];
  if (faults === undefined) return undefined;
  return { passed: found! + seeds! - alarms!, failed: faults - found! + alarms!, skipped: 0 };
}

/** The last line of the table of planted faults: `all  202  202`. */
export function countPlanted(output: string): Counts | undefined {
  const [, planted, killed] = /^\|?\s*all[\s|]+(\d+)[\s|]+(\d+)/m.exec(output) ?? [];
  if (planted === undefined) return undefined;
  return { passed: Number(killed), failed: Number(planted) - Number(killed), skipped: 0 };
}

/** The sums of `480 recordings, 469 as they must be, 11 refused or an error, 0 failed`. */
export function countReplays(output: string): Counts | undefined {
  const found = [...output.matchAll(/(\d+) (?:recordings|requests|answers), .* (\d+) failed$/gm)];
  if (found.length === 0) return undefined;
  const sum = (part: number) => found.reduce((total, match) => total + Number(match[part]), 0);
  return { passed: sum(1) - sum(2), failed: sum(2), skipped: 0 };
}
