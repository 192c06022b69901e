/** Servers, their tools and pins, as the operations of the admin API answer them. */
import type { AdminBooks } from "../../../admin/books.ts";
import { actorOf } from "../../../admin/entries.ts";
import { answers } from "../../../admin/operation.ts";
import { toNano } from "../../../ledger/money.ts";
import { AdminError, notFound } from "../../../operator/errors.ts";
import { digestOf, PinsChanged } from "../pins/book.ts";
import { definitionDiff, diffBudget } from "../pins/diff.ts";
import { isPending, readHeads, readTools, type StoredTool, type ToolHead } from "../pins/rows.ts";
import { visible } from "../pins/visible.ts";
import {
  approveServerTools,
  getServerLogs,
  getServerPins,
  listServerTools,
  listToolServers,
  type ServerTool,
  type ToolServer,
} from "./contracts.ts";
import type { ServerReport, ServerSummary } from "./facts.ts";
import { type OfferedPart, toolsPart } from "./slots.ts";
import { priceOf, tokensOf } from "./tokens.ts";

export const operations = [
  answers(listToolServers, async ({ books }) => {
    const heads = Map.groupBy(await books.read(readHeads), ({ server }) => server);
    const part = toolsPart.get(books.offers);
    const servers: ToolServer[] = [];
    for (const summary of part?.servers() ?? [...heads.keys()].map((name) => ({ name }))) {
      const tools = heads.get(summary.name) ?? [];
      const tokens = await tokensOfServer(books, summary.name, tools);
      servers.push(viewOf(summary, part?.reportOf(summary.name), tools, tokens));
    }
    return { json: { servers } };
  }),
  answers(listServerTools, async ({ books, params: { server }, query: { limit, after = "0" } }) => {
    const { summary, tools } = await expectServer(books, server);
    const entries = listed(tools);
    const from = Number(after) || 0;
    const page = entries.slice(from, from + limit).map((one) => toolView(one, summary?.prices));
    const next = from + limit;
    return { json: { tools: page, ...(next < entries.length && { next: String(next) }) } };
  }),
  answers(getServerPins, async ({ books, params: { server } }) => {
    const { tools } = await expectServer(books, server);
    const waiting = tools.filter(isPending);
    const before = new Map(
      tools.filter(({ state }) => state === "approved").map((one) => [one.tool, one.definition]),
    );
    const budget = diffBudget();
    const changes = waiting.map(({ tool, hash, since, state, definition }) => ({
      ...{ tool, hash, since, kind: state as "new" | "changed" | "gone" },
      lines: definitionDiff(before.get(tool), definition, budget),
    }));
    return { json: { server, digest: digestOf(waiting), changes } };
  }),
  answers(approveServerTools, async ({ books, caller, params: { server }, body: { digest, tools } }) => {
    await expectServer(books, server);
    const part = partOf(books);
    const [book, file] = [await part.book(), part.pinFile()];
    const asked = [actorOf(caller), server, digest, tools] as const;
    const approved = await (
      file === undefined ? book.approve(...asked) : book.approveIn(file, ...asked)
    ).catch((cause: unknown) => {
      if (!(cause instanceof PinsChanged)) throw cause;
      throw new AdminError(409, "pins_changed", `Nothing was approved: ${cause.message}. Look again.`);
    });
    if (file !== undefined || (await book.settled())) return { json: approved };
    throw new AdminError(
      503,
      "pins_not_confirmed",
      "The approval is saved, but not all workers have taken it over yet.",
    );
  }),
  answers(getServerLogs, async ({ books, params: { server } }) => {
    await expectServer(books, server);
    const answer = await partOf(books).ask({ logs: server });
    if (answer && "logs" in answer) return { json: { programs: answer.logs } };
    const why = answer?.fault ?? "no gateway runs";
    throw new AdminError(503, "not_available", `What the programs wrote cannot be read: ${why}.`);
  }),
];

/** @throws AdminError 503 while the part in the keeper does not run */
function partOf({ offers }: AdminBooks): OfferedPart {
  const part = toolsPart.get(offers);
  if (part) return part;
  throw new AdminError(503, "store_failed", "Tools cannot be changed: the keeper has not started.");
}

interface Found {
  /** Undefined without a running gateway. */
  readonly summary: ServerSummary | undefined;
  readonly tools: readonly StoredTool[];
}

/** @throws AdminError 404 */
async function expectServer(books: AdminBooks, server: string): Promise<Found> {
  const summary = toolsPart
    .get(books.offers)
    ?.servers()
    ?.find(({ name }) => name === server);
  const tools = await books.read((sql) => readTools(sql, server));
  if (!summary && tools.length === 0) throw notFound("server of tools", server);
  return { summary, tools };
}

/** By server: the hashes of its tools, and the tokens of their definitions. */
const counted = new Map<string, { readonly hashes: string; readonly tokens: number }>();

/** A page asks again and again: definitions are read when a tool is another one. */
async function tokensOfServer(
  books: AdminBooks,
  server: string,
  heads: readonly ToolHead[],
): Promise<number> {
  const hashes = heads.flatMap((one) => (isPending(one) ? [] : one.hash)).join();
  const known = counted.get(server);
  if (known?.hashes === hashes) return known.tokens;
  const tools = hashes === "" ? [] : await books.read((sql) => readTools(sql, server));
  const shown = tools.filter((one) => !isPending(one));
  const tokens = shown.reduce((sum, { definition }) => sum + (definition ? tokensOf(definition) : 0), 0);
  counted.set(server, { hashes, tokens });
  return tokens;
}

function viewOf(
  summary: ServerSummary | Pick<ServerSummary, "name">,
  report: ServerReport | undefined,
  tools: readonly ToolHead[],
  tokens: number,
): ToolServer {
  const { name: software = "", version: release = "" } = report?.info ?? {};
  const shown = tools.filter((one) => !isPending(one));
  const { name, allow = [], only = [] } = summary as Partial<ServerSummary> & Pick<ServerSummary, "name">;
  const { prices: _, ...known } = summary as ServerSummary;
  return {
    ...{ ...known, name, allow: [...allow], only: [...only] },
    state: report ? (report.isUp ? "up" : "down") : "unknown",
    ...(report && { seenAt: report.at }),
    ...(report?.reason !== undefined && { reason: visible(report.reason) }),
    ...(report?.era && { era: report.era }),
    ...(report?.version !== undefined && { version: visible(report.version) }),
    ...(software !== "" && { software: `${software} ${release}`.trim() }),
    tools: shown.length,
    tokens,
    waiting: tools.filter(isPending).length,
  };
}

/** Each tool once: approved ones with what became of them, then those that are new. */
function listed(tools: readonly StoredTool[]): StoredTool[] {
  const waiting = new Map(tools.filter(isPending).map((one) => [one.tool, one]));
  const known = tools.filter((one) => !isPending(one));
  const names = new Set(known.map(({ tool }) => tool));
  return [
    ...known.map((one) => ({ ...one, state: waiting.get(one.tool)?.state ?? one.state })),
    ...[...waiting.values()].filter(({ tool }) => !names.has(tool)),
  ];
}

function toolView(
  { server, tool, state, hash, since, definition = {} }: StoredTool,
  prices: ServerSummary["prices"],
): ServerTool {
  const name = `${server}__${tool}`;
  const price = toNano(priceOf(prices, name)) ?? 0;
  return { tool, hash, since, name, state, definition, tokens: tokensOf(definition), price };
}
