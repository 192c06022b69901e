/** `weir whatif --map PAIRS`: asks what past calls would have cost, and prints a row for each pair of models. */
import { runConnected } from "../../cli/books/command.ts";
import { withProgress } from "../../cli/books/progress.ts";
import { showCount, showMoney } from "../../cli/books/show.ts";
import { filterOf } from "../../cli/books/usage.ts";
import { sinceOf, textOf } from "../../cli/books/values.ts";
import { type Context, UsageError } from "../../cli/command.ts";
import { table } from "../../cli/terminal.ts";

const DAY_MS = 86_400_000;

/** @returns the exit code */
export function run(context: Context): Promise<number> {
  return runConnected(context, async ({ api, flags, show }) => {
    const pairs = textOf(flags, "--map");
    if (pairs === undefined)
      throw new UsageError(
        "weir whatif requires --map, for example --map 'gpt-5.4=anthropic/claude-sonnet-5'",
      );
    const now = Date.now();
    const from = sinceOf(flags, "--since", now) ?? now - 30 * DAY_MS;
    const body = { from, to: now, map: readMap(pairs), ...filterOf(flags) };
    const result = await withProgress("calculating", api.ask("POST /whatif", { body }));
    show(result, () => {
      const rows = result.rows.map((row) => [
        row.from,
        row.to,
        showCount(row.calls),
        showMoney(row.now),
        row.then === undefined ? (row.why ?? "no price") : showMoney(row.then),
      ]);
      const total = ["total", "", showCount(result.calls), showMoney(result.now), showMoney(result.then)];
      return table([["model", "instead", "calls", "booked", "would have cost"], ...rows, total]);
    });
  });
}

/** `a=b,c=d`. @throws UsageError */
function readMap(text: string): Record<string, string> {
  const pairs = text.split(",").map((pair) => pair.split("=").map((side) => side.trim()));
  if (pairs.some((pair) => pair.length !== 2 || pair.includes("")))
    throw new UsageError(`--map requires pairs such as gpt-5.4=anthropic/claude-sonnet-5; "${text}" is none`);
  return Object.fromEntries(pairs) as Record<string, string>;
}
