/**
 * `bun run conformance --mcp`: the official suite of the Model Context Protocol against reference servers, directly and through
 * weir, in all cells of client era and server era, and against weir's own client. Writes the tables of the README; exits with 1
 * when a check is worse through weir than without it.
 */
import { join } from "node:path";
import { startGateway, TARGET } from "../../helpers/gateway.ts";
import { markdownTable, ROOT, withPart } from "../../helpers/documents.ts";
import { excuse, EXCUSES, type Excuse } from "./excuses.ts";
import { type Installed, installSuite, SUITE } from "./install.ts";
import { officialReference, ownReference, type Reference } from "./references.ts";
import { type Checks, REVISIONS, type Revision, runClientSuite, runSuite, scenariosOf } from "./suite.ts";
import { type Column, groupsOf, verdictTable, type Worse, worseThrough } from "./verdicts.ts";

/** The process of the tools needs a gateway with a process of its own. */
const ALONE = TARGET === "source" ? "process" : TARGET;

const README = "test/conformance/README.md";

/** The era of the suite's client at a revision. */
const ERA = { "2025-11-25": "legacy", "2026-07-28": "modern" } as const;

/** A cell: the letter of the client's era, then that of the server's. */
function cellOf(revision: Revision, half: "modern" | "legacy"): string {
  return `${ERA[revision][0]!}${half[0]!}`.toUpperCase();
}

interface Judgement {
  readonly columns: readonly Column[];
  readonly worse: readonly (Worse & { readonly cell: string })[];
  readonly excused: ReadonlyMap<Excuse, number>;
}

async function judge(installed: Installed, reference: Reference, gateway: string): Promise<Judgement> {
  const columns: Column[] = [];
  const worse: (Worse & { cell: string })[] = [];
  const excused = new Map<Excuse, number>();
  for (const revision of REVISIONS) {
    const groups = groupsOf(await scenariosOf(installed.suite, "server", revision));
    const run = async (title: string, url: string): Promise<Checks> => {
      const checks = await runSuite(installed, url, revision);
      columns.push({ title, checks, groups });
      return checks;
    };
    const direct = await run(`${revision} as it came`, reference.url);
    for (const half of ["modern", "legacy"] as const) {
      const cell = cellOf(revision, half);
      const url = `${gateway}/mcp/${serverName(reference, half)}`;
      const through = await run(`${revision} through weir, ${cell}`, url);
      const judged = excuse(reference.name, cell, worseThrough(direct, through));
      worse.push(...judged.worse.map((one) => ({ ...one, cell })));
      for (const [reason, count] of judged.excused) excused.set(reason, (excused.get(reason) ?? 0) + count);
    }
  }
  return { columns, worse, excused };
}

function serverName({ name }: Reference, half: string): string {
  return `${name.slice(0, name.indexOf("."))}-${half}`.slice(0, 24);
}

function serversOf(references: readonly Reference[]): Record<string, unknown> {
  return Object.fromEntries(
    references.flatMap((reference) =>
      Object.entries(reference.halves).map(([half, { url, era }]) => [
        serverName(reference, half),
        { url, era, allow: ["*"] },
      ]),
    ),
  );
}

function describe({ name }: Reference, { columns, worse, excused }: Judgement): string {
  const reasons = [...excused].map(([{ cell, why }, count]) => [cell, String(count), why]);
  return [
    `\`${name}\`: ${worse.length} checks are worse through weir.`,
    verdictTable(columns),
    ...(reasons.length > 0 ? [markdownTable(["cell", "checks", "cannot hold because"], reasons)] : []),
  ].join("\n\n");
}

/** The suite's servers before weir's own client. @returns the table, and the scenarios that count and fail */
async function judgeClient(installed: Installed): Promise<{ text: string; failed: readonly string[] }> {
  const columns: Column[] = [];
  const failed: string[] = [];
  for (const revision of REVISIONS) {
    const scenarios = await scenariosOf(installed.suite, "client", revision);
    const command = `${process.execPath} ${join(import.meta.dir, "client.ts")}`;
    const checks = await runClientSuite(installed, command, revision);
    columns.push({ title: revision, checks, groups: groupsOf(scenarios) });
    for (const { name, unscored } of scenarios) {
      const bad = checks.get(name)?.filter(({ status }) => status === "FAILURE" || status === "WARNING");
      if (!unscored && bad?.length !== 0)
        failed.push(
          `${revision} ${name}: ${bad?.map((one) => `${one.id} ${one.errorMessage ?? ""}`).join("; ") ?? "did not run"}`,
        );
    }
  }
  return {
    text: `weir as the client: ${failed.length} scenarios that count fail.\n\n${verdictTable(columns)}`,
    failed,
  };
}

/** @returns the exit code */
export async function judgeTools(words: readonly string[]): Promise<number> {
  const installed = await installSuite();
  const references = [
    ownReference(),
    ...[await officialReference(installed)].filter((one) => one !== undefined),
  ];
  const gateway = await startGateway({
    target: ALONE,
    config: { tools: { servers: serversOf(references) } },
  });
  const parts: string[] = [];
  const used = new Set<Excuse>();
  let worse = 0;
  try {
    for (const reference of references) {
      if (words[0] && !reference.name.includes(words[0])) continue;
      const judged = await judge(installed, reference, gateway.url);
      parts.push(describe(reference, judged));
      console.log(`\n${parts.at(-1)}\n`);
      for (const one of judged.worse)
        console.log(`${one.cell} ${one.scenario} ${one.check}: ${one.direct} → ${one.through} ${one.why}`);
      worse += judged.worse.length;
      for (const reason of judged.excused.keys()) used.add(reason);
    }
  } finally {
    await gateway.stop();
    for (const reference of references) reference.stop();
  }
  if (words.length === 0 && references.length > 1)
    for (const { cell, pattern } of EXCUSES.filter((one) => !used.has(one))) {
      console.log(`The excuse ${cell} ${pattern.source} excuses nothing.`);
      worse += 1;
    }
  if (!words[0] || words[0] === "client") {
    const { text, failed } = await judgeClient(installed);
    parts.push(text);
    console.log(`\n${text}\n\n${failed.join("\n")}`);
    worse += failed.length;
  }
  console.log(`\n${SUITE}: ${worse} checks or scenarios are worse than they may be.`);
  // A part of a run is no run.
  if (words.length === 0)
    await Bun.write(join(ROOT, README), withPart(README, "mcp-suite", parts.join("\n\n")));
  return worse > 0 ? 1 : 0;
}
