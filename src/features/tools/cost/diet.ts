/** Which tools no call used, and the lists by which weir leaves them out. */
import type { TapeEntry } from "../../../gateway/recording/entry.ts";
import type { Nano } from "../../../ledger/money.ts";
import { fullName } from "../bridge/names.ts";
import { sumOf } from "./attribute.ts";
import type { ToolCost, ToolCostReport } from "./contracts.ts";
import { isNamed } from "./ledger.ts";
import { withoutTools } from "./lines.ts";

/** A tool that no call used. */
export interface Unused {
  readonly tool: string;
  /** Calls that carried its definition. */
  readonly carried: number;
  /** Tokens of the definition in all of them, and what they cost. */
  readonly tokens: number;
  readonly cost: Nano;
}

/** What a server of weir should show. */
export interface Proposal {
  readonly server: string;
  /** For `tools.servers.NAME.only`: its tools that are in use, by their names there. */
  readonly only: readonly string[];
  readonly unused: readonly Unused[];
  readonly cost: Nano;
}

export interface Diet {
  /** Calls of models with tools, and since when. Milliseconds since 1970; absent for a tape. */
  readonly calls: number;
  readonly since?: number;
  readonly servers: readonly Proposal[];
  /** Unused tools that no server of weir has: their clients declare them. */
  readonly clients: readonly Unused[];
  readonly cost: Nano;
  /** From a tape: what leaving them out changes. */
  readonly proof?: Proof;
}

/** The names of tools at their servers, by server. */
export type KnownTools = ReadonlyMap<string, readonly string[]>;

/** No list permits nothing: the pattern that takes all away does. */
const NOTHING = "!*";

/** @param known tools of servers, where requests have their names in a short form */
export function dietOf({ tools, calls, firstAt }: ToolCostReport, known: KnownTools): Diet {
  const unused = tools.filter(({ carried, isUsed }) => carried > 0 && !isUsed);
  const ofServers = new Map<string, ToolCost[]>();
  for (const tool of unused)
    if (tool.server !== undefined) ofServers.set(tool.server, [...(ofServers.get(tool.server) ?? []), tool]);
  const servers = [...ofServers].map(([server, own]): Proposal => {
    const names = known.get(server) ?? [];
    const used = tools.filter((tool) => tool.server === server && tool.isUsed);
    const shown = [...new Set(used.map(({ tool }) => nameAt(server, tool, names)))].sort();
    // Another client may use under its own name what this one never does.
    const left = own.filter(({ tool }) => !shown.includes(nameAt(server, tool, names)));
    return {
      server,
      only: shown.length === 0 ? [NOTHING] : shown,
      unused: left.map(unusedOf),
      cost: costOf(left),
    };
  });
  const proposed = servers.filter((one) => one.unused.length > 0).sort((a, b) => b.cost - a.cost);
  const clients = unused.filter(({ server }) => server === undefined).map(unusedOf);
  const cost = [...proposed, ...clients].reduce((sum, one) => sum + one.cost, 0);
  return { calls, ...(firstAt && { since: firstAt }), servers: proposed, clients, cost };
}

/** The name of a tool at its server: requests have a shorter one where it is long. */
function nameAt(server: string, tool: string, names: readonly string[]): string {
  const known = names.find((name) => isNamed(tool, fullName(server, name)));
  return known ?? tool.slice(tool.lastIndexOf(`${server}__`) + server.length + 2);
}

function unusedOf({ tool, carried, definition, definitionCost }: ToolCost): Unused {
  return { tool, carried, tokens: sumOf(definition), cost: sumOf(definitionCost) };
}

const costOf = (tools: readonly ToolCost[]) =>
  tools.reduce((sum, { definitionCost }) => sum + sumOf(definitionCost), 0);

/** What is known of requests without the declarations of some tools. */
export interface Proof {
  /** Requests that declare one of the tools. */
  readonly requests: number;
  /** Those that differ in nothing but the declarations. */
  readonly same: number;
  /** Tools that texts or options of requests name, by number of requests: the model may miss them. */
  readonly mentioned: Readonly<Record<string, number>>;
}

/** Compares the requests of a tape with what they are without the tools of a diet. */
export function proofOf(entries: readonly TapeEntry[], { servers, clients }: Diet): Proof {
  const unused = [...servers.flatMap((one) => one.unused), ...clients].map(({ tool }) => tool);
  const names = new Set(unused);
  const mentioned: Record<string, number> = {};
  let [requests, same] = [0, 0];
  for (const { request } of entries) {
    const narrow = withoutTools(request, names);
    if (narrow.lines.length === request.lines.length) continue;
    requests++;
    const rest = [...narrow.lines, ...Object.values(request.options)].join("\n");
    for (const name of unused)
      if (new RegExp(`(?<!\\w)${RegExp.escape(name)}(?!\\w)`).test(rest))
        mentioned[name] = (mentioned[name] ?? 0) + 1;
    if (isWithin(narrow.lines, request.lines, names)) same++;
  }
  return { requests, same, mentioned };
}

/** Whether the lines that only the whole request has are all lines of declarations of these tools. */
function isWithin(narrow: readonly string[], whole: readonly string[], names: ReadonlySet<string>): boolean {
  let at = 0;
  let declares: string | undefined;
  for (const line of whole) {
    const head = /^tool (.*?)(?: \(\w+\))?$/.exec(line);
    if (!line.startsWith(" ")) declares = head?.[1];
    if (narrow[at] === line && !(declares !== undefined && names.has(declares))) at++;
    else if (declares === undefined || !names.has(declares)) return false;
  }
  return at === narrow.length;
}
