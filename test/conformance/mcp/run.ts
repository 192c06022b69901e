/**
 * `bun run conformance --mcp`: the official suite of the Model Context Protocol against reference servers, directly and through
 * weir, in all cells of client era and server era, and against weir's own client and authorization server. Writes the tables of the README; exits with 1
 * when a check is worse through weir than without it.
 */
import { join } from "node:path";
import { type RunningGateway, startGateway, TARGET } from "../../helpers/gateway.ts";
import { markdownTable, ROOT, withPart } from "../../helpers/documents.ts";
import { judgeAuthorization } from "./authorization.ts";
import { excuse, EXCUSES, type Excuse } from "./excuses.ts";
import { plantFaults } from "./faults.ts";
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

/** Prints a part and writes it into the README. */
async function publish(name: string, text: string, faults: readonly string[]): Promise<number> {
  console.log(`\n${[text, ...faults].join("\n\n")}`);
  await Bun.write(join(ROOT, README), withPart(README, `mcp-${name}`, text));
  return faults.length;
}

async function judgeServers(installed: Installed, wanted: string): Promise<number> {
  const references = [
    ownReference(),
    ...[await officialReference(installed)].filter((one) => one !== undefined),
  ];
  let gateway: RunningGateway | undefined;
  let faults = 0;
  try {
    gateway = await startGateway({ target: ALONE, config: { tools: { servers: serversOf(references) } } });
    for (const reference of references.filter(({ name }) => name.includes(wanted))) {
      const judged = await judge(installed, reference, gateway.url);
      const { name } = reference;
      faults += await publish(name.slice(0, name.indexOf(".")), describe(reference, judged), [
        ...judged.worse.map(
          (one) => `${one.cell} ${one.scenario} ${one.check}: ${one.direct} → ${one.through} ${one.why}`,
        ),
        ...EXCUSES.filter((one) => one.reference === name && !judged.excused.has(one)).map(
          ({ cell, pattern }) => `The excuse ${cell} ${pattern.source} excuses nothing.`,
        ),
      ]);
    }
  } finally {
    await gateway?.stop();
    for (const reference of references) reference.stop();
  }
  return faults;
}

/**
 * @param words what is judged: `reference`, `everything`, `client`, `authorization`, or the judge itself: `faults`; default: all
 * but that
 * @returns the exit code
 */
export async function judgeTools([wanted = "", word = ""]: readonly string[]): Promise<number> {
  const installed = await installSuite();
  if (wanted === "faults") return (await plantFaults(installed, word)).length > 0 ? 1 : 0;
  const own = { client: judgeClient, authorization: judgeAuthorization };
  let faults = Object.hasOwn(own, wanted) ? 0 : await judgeServers(installed, wanted);
  for (const [name, judged] of Object.entries(own))
    if (wanted === "" || wanted === name) {
      const { text, failed } = await judged(installed);
      faults += await publish(name, text, failed);
    }
  console.log(`\n${SUITE}: ${faults} faults.`);
  return faults > 0 ? 1 : 0;
}
