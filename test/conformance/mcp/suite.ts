/** Runs the official suite and reads what it found. */
import { readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
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

/** What is judged: a server at a URL, or a command that is given the URL of a server. */
export type Judged = { readonly url: string } | { readonly command: string };

/** Longest time of a run, in milliseconds. A scenario takes 30 seconds at most. */
const RUN_MS = 600_000;

/** Runs all scenarios of a revision. @throws Error when the suite found none */
export async function runSuite(
  { node, suite }: Installed,
  judged: Judged,
  revision: Revision,
): Promise<Checks> {
  const output = await mkdtemp(join(tmpdir(), "weir-mcp-suite-"));
  const side = "url" in judged ? ["server", "--url", judged.url] : ["client", "--command", judged.command];
  const child = Bun.spawn(
    [node, join(suite, "dist/index.js"), ...side, "--requirements", revision, "--output-dir", output],
    { stdin: "ignore", stdout: "ignore", stderr: "pipe", timeout: RUN_MS },
  );
  const errors = await new Response(child.stderr).text();
  await child.exited;
  try {
    return await checksIn(output, await scenariosOf(suite, "url" in judged ? "server" : "client", revision));
  } catch (error) {
    throw new Error(`The suite left no results: ${errors.trim().slice(-500)}`, { cause: error });
  } finally {
    await rm(output, { recursive: true, force: true });
  }
}

/** The suite names the folders `[server-]SCENARIO-TIME`; scenarios may have a slash. */
async function checksIn(output: string, scenarios: readonly Scenario[]): Promise<Checks> {
  const found = new Map<string, Check[]>();
  const glob = new Bun.Glob("**/checks.json");
  const files = [...glob.scanSync({ cwd: output })].sort();
  for (const { name } of scenarios) {
    const pattern = new RegExp(`^(server-)?${RegExp.escape(name)}-\\d{4}-\\d\\d-\\d\\dT[\\d-]+Z$`);
    const file = files.find((path) => pattern.test(path.slice(0, -"/checks.json".length)));
    if (file) found.set(name, (await Bun.file(join(output, file)).json()) as Check[]);
  }
  if (found.size === 0) throw new Error(`no results in ${readdirSync(output).join(", ")}`);
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
