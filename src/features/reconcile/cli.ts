/** `weir reconcile PROVIDER MONTH DOLLARS`: asks for the comparison and prints its causes. */
import { runConnected } from "../../cli/books/command.ts";
import { withProgress } from "../../cli/books/progress.ts";
import { showMoney } from "../../cli/books/show.ts";
import { readAmount } from "../../cli/books/values.ts";
import { type Context, UsageError } from "../../cli/command.ts";
import { table } from "../../cli/terminal.ts";

/** @returns the exit code */
export function run(context: Context): Promise<number> {
  return runConnected(context, async ({ api, words: [provider = "", month = "", dollars = ""], show }) => {
    const body = { provider, month: readMonth(month), amount: readAmount(dollars, "DOLLARS") };
    const result = await withProgress("adding up", api.ask("POST /invoices", { body }));
    show(result, () => {
      const rows = [
        ["invoice", showMoney(result.invoiced), `${result.provider}, ${result.month}`],
        ["books", showMoney(result.booked), ""],
        ["difference", showMoney(result.difference), ""],
        ...result.causes.map(({ name, amount, detail }) => [`  ${name}`, showMoney(amount), detail]),
      ];
      return table(rows);
    });
  });
}

/** `2026-11`. @throws UsageError */
function readMonth(text: string): string {
  if (/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) return text;
  throw new UsageError(`a month is written 2026-11; "${text}" is none`);
}
