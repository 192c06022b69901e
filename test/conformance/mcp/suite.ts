/** Runs the official suite and reads what it found. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { readLines } from "../../helpers/serving.ts";
import type { Installed } from "./install.ts";

export const REVISIONS = ["2025-11-25", "2026-07-28"] as const;
export type Revision = (typeof REVISIONS)[number];

export type Status = "SUCCESS" | "INFO" | "WARNING" | "SKIPPED" | "FAILURE";

export interface Check {
  readonly id: string;
  readonly status: Status;
  readonly errorMessage?: string;
}

/** The checks of each scenario, in the order in which the suite ran them. */
export type Checks = ReadonlyMap<string, readonly Check[]>;

/** Longest time of a run and of a scenario, in milliseconds. */
const RUN_MS = 600_000;
const SCENARIO_MS = 60_000;
/** Scenarios for clients that run at once: each starts a gateway. */
const AT_ONCE = 2;

/** Runs all scenarios of a revision at a server. @throws Error when the suite found none */
export async function runSuite(installed: Installed, url: string, revision: Revision): Promise<Checks> {
  const scenarios = await scenariosOf(installed.suite, "server", revision);
  const found = await run(installed, ["server", "--url", url, "--requirements", revision], scenarios);
  if (found.size === 0) throw new Error(`The suite left no results for ${url}.`);
  return found;
}

/** Runs all scenarios of a revision with a client: a command that is given the URL of a server. */
export async function runClientSuite(
  installed: Installed,
  command: string,
  revision: Revision,
): Promise<Checks> {
  const scenarios = await scenariosOf(installed.suite, "client", revision);
  const found = new Map<string, readonly Check[]>();
  const rest = [...scenarios];
  const work = async () => {
    for (let scenario = rest.shift(); scenario; scenario = rest.shift()) {
      const words = ["client", "--command", command, "--spec-version", revision, "--scenario", scenario.name];
      const checks = await run(
        installed,
        [...words, "--force", "--timeout", String(SCENARIO_MS)],
        [scenario],
      );
      for (const [name, list] of checks) found.set(name, list);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return found;
}

/**
 * Runs scenarios at an authorization server.
 * @param words what the suite is told of it @param hear takes each line that the suite prints: it asks for a browser
 */
export function runAuthorizationSuite(
  installed: Installed,
  words: readonly string[],
  revision: Revision,
  scenarios: readonly Scenario[],
  hear: (line: string) => void,
): Promise<Checks> {
  return run(installed, ["authorization", ...words, "--spec-version", revision], scenarios, hear);
}

async function run(
  { node, suite }: Installed,
  words: readonly string[],
  scenarios: readonly Scenario[],
  hear?: (line: string) => void,
): Promise<Checks> {
  const output = await mkdtemp(join(tmpdir(), "weir-mcp-suite-"));
  const child = Bun.spawn([node, join(suite, "dist/index.js"), ...words, "--output-dir", output], {
    ...{ stdin: "ignore", stdout: hear ? "pipe" : "ignore", stderr: "ignore" },
    timeout: RUN_MS,
  });
  if (hear && child.stdout) await readLines(child.stdout, hear);
  await child.exited;
  try {
    return await checksIn(output, scenarios);
  } finally {
    await rm(output, { recursive: true, force: true });
  }
}

/** The suite names the folders `[server-]SCENARIO-TIME` or `authorization-server-SCENARIO-TIME`; scenarios may have a slash. */
async function checksIn(output: string, scenarios: readonly Scenario[]): Promise<Checks> {
  const found = new Map<string, Check[]>();
  const glob = new Bun.Glob("**/checks.json");
  const files = [...glob.scanSync({ cwd: output })].sort();
  for (const { name } of scenarios) {
    const pattern = new RegExp(
      `^((authorization-)?server-)?${RegExp.escape(name)}-\\d{4}-\\d\\d-\\d\\dT[\\d-]+Z$`,
    );
    const file = files.find((path) => pattern.test(path.slice(0, -"/checks.json".length)));
    if (file) found.set(name, (await Bun.file(join(output, file)).json()) as Check[]);
  }
  return found;
}

export interface Scenario {
  readonly name: string;
  /** Why it does not count for the revision; undefined: it does. */
  readonly unscored?: string;
}

interface Requirements {
  server: string[];
  client: string[];
  not_scored?: { scenario: string; leg: string; reason: string }[];
}

/** The scenarios of a revision, those that count first. */
export async function scenariosOf(
  suite: string,
  leg: "server" | "client",
  revision: Revision,
): Promise<Scenario[]> {
  const text = await Bun.file(join(suite, "requirements", `${revision}.yaml`)).text();
  const required = parse(text) as Requirements;
  const others = (required.not_scored ?? []).filter((one) => one.leg === leg);
  return [
    ...required[leg].map((name) => ({ name })),
    ...others.map(({ scenario, reason }) => ({ name: scenario, unscored: reason })),
  ];
}
