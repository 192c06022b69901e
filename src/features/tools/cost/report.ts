/** The sums of tools as the admin API and commands show them. */
import { addClasses, noClasses, sumOf } from "./attribute.ts";
import type { ToolCost, ToolCostReport } from "./contracts.ts";
import type { ToolLedger, ToolRow } from "./ledger.ts";

/** @param servers names of the servers of weir */
export function reportOf(ledger: ToolLedger, servers: readonly string[]): ToolCostReport {
  const { rest, calls, tokens, cost, unknown, unread, rows } = ledger;
  const tools = [...rows.values()].map((row) => toolOf(row, servers));
  const first = tools.reduce((least, { firstAt }) => Math.min(least, firstAt), Infinity);
  return {
    tools: tools.sort((a, b) => b.cost - a.cost || (a.tool < b.tool ? -1 : 1)),
    ...{ rest, calls, tokens, cost, unknown, unread },
    ...(first !== Infinity && first > 0 && { firstAt: first }),
  };
}

function toolOf({ isSeen, ...row }: ToolRow, servers: readonly string[]): ToolCost {
  const server = serverOf(row.tool, servers);
  return {
    ...row,
    ...(server !== undefined && { server }),
    cost: sumOf(row.definitionCost) + sumOf(row.resultCost) + row.ran,
    isUsed: isSeen || row.uses > 0 || row.isHosted,
  };
}

/** The server whose name is in that of the tool: `github__search`, `mcp__weir__github__search`. */
export function serverOf(tool: string, servers: readonly string[]): string | undefined {
  const parts = tool.split("__").slice(0, -1);
  return parts.findLast((part) => servers.includes(part));
}

/** Dollars of a tool by what the provider did with its tokens. */
export function costsOf({ definitionCost, resultCost }: ToolCost) {
  const sum = noClasses();
  addClasses(sum, definitionCost);
  addClasses(sum, resultCost);
  return sum;
}
