/** `weir tools diet`: which tools no call used, with the list that leaves them out. */
import { type BookContext, runConnected } from "../../../cli/books/command.ts";
import { showCount, showDay, showMoney } from "../../../cli/books/show.ts";
import type { Context } from "../../../cli/command.ts";
import { table } from "../../../cli/terminal.ts";
import { visibleName } from "../pins/visible.ts";
import { isShortened } from "../bridge/names.ts";
import type { ServerTool } from "../operator/contracts.ts";
import type { ToolCostReport } from "./contracts.ts";
import { notesOf, readReport, tapeOf } from "./cli.ts";
import { type Diet, dietOf, type KnownTools, type Proof, proofOf, type Unused } from "./diet.ts";

/** @returns the exit code */
export async function run(context: Context): Promise<number> {
  const tape = await tapeOf(context);
  if (tape) {
    const { report, entries } = tape;
    const diet = dietOf(report, new Map());
    const whole = { ...diet, proof: proofOf(entries, diet) };
    context.print(
      context.flags["--json"]
        ? JSON.stringify(whole, null, 2)
        : [textOf(whole), ...notesOf(report)].join("\n"),
    );
    return 0;
  }
  return runConnected(context, async (books) => {
    const { report } = await readReport(books);
    const diet = dietOf(report, await knownTools(books, report));
    books.show(diet, () => [textOf(diet), ...notesOf(report)].join("\n"));
  });
}

/** The tools of servers that have long names, which requests have in a short form only: who sees no servers may ask for the rest. */
async function knownTools({ api }: BookContext, { tools }: ToolCostReport): Promise<KnownTools> {
  const servers = tools.flatMap(({ tool, server }) =>
    server !== undefined && isShortened(server, tool) ? server : [],
  );
  const known = new Map<string, string[]>();
  for (const name of new Set(servers)) {
    const names: string[] = [];
    let after: string | undefined;
    do {
      const path = `/tools/servers/${encodeURIComponent(name)}/tools`;
      const query = { limit: 500, after };
      const page = await api.send<{ tools: ServerTool[]; next?: string }>("GET", path, { query });
      names.push(...page.tools.map(({ tool }) => tool));
      after = page.next;
    } while (after !== undefined);
    known.set(name, names);
  }
  return known;
}

/** The proposals as lines of text. */
export function textOf({ calls, since, servers, clients, cost, proof }: Diet): string {
  const when = since === undefined ? "of the tape" : `since ${showDay(since)}`;
  const all = `${showCount(calls)} ${calls === 1 ? "call" : "calls"} ${when}`;
  if (servers.length === 0 && clients.length === 0) return `no tool of ${all} is unused`;
  const parts = servers.map(({ server, only, unused }) =>
    [`tools.servers.${server}.only: ${JSON.stringify(only)}`, tableOf(unused)].join("\n"),
  );
  if (clients.length > 0)
    parts.push(["declared by clients, which can leave them out:", tableOf(clients)].join("\n"));
  return [
    `never used in ${all}; their definitions cost ${showMoney(cost)}`,
    ...parts,
    ...(proof ? [said(proof)] : []),
  ].join("\n\n");
}

function tableOf(unused: readonly Unused[]): string {
  const rows = unused.map(({ tool, carried, tokens, cost }) => [
    ...[visibleName(tool), showCount(carried), showCount(tokens), showMoney(cost)],
  ]);
  return table([["TOOL", "CALLS", "TOKENS", "COST"], ...rows], "  ");
}

function said({ requests, same, mentioned }: Proof): string {
  const names = Object.entries(mentioned);
  const texts = names.map(([name, count]) => `${visibleName(name)} (${showCount(count)})`).join(", ");
  const first = `Without them, ${showCount(same)} of ${showCount(requests)} requests differ in nothing but the declarations.`;
  return names.length === 0 ? first : `${first}\nTexts of requests name ${texts}.`;
}
