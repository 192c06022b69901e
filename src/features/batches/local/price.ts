/** `weir batches price FILE`: what the lines would cost with several models. */
import { resolve } from "node:path";
import { showCount, showMoney } from "../../../cli/books/show.ts";
import { countOf, listOf, textOf } from "../../../cli/books/values.ts";
import { type Command, UsageError } from "../../../cli/command.ts";
import { table } from "../../../cli/terminal.ts";
import { bytesOf } from "./bytes.ts";
import type { ModelPrice, PricedBatch } from "../price.ts";
import { endpointOf } from "./endpoint.ts";
import { completeLines } from "./lines.ts";
import { modelPrices, priceLines } from "./prices.ts";

export const price: Pick<Command, "run"> = {
  async run(context) {
    const { words, flags, cwd, print, printError } = context;
    const file = resolve(cwd, words[0]!);
    if (!(await Bun.file(file).exists())) throw new UsageError(`${words[0]} cannot be read`);
    const endpoint = await endpointOf(bytesOf(file), textOf(flags, "--format"));
    const models = listOf(flags, "--models") ?? [];
    const output = countOf(flags, "--output");
    const prices = await modelPrices(context);
    // Models of the flag count in place of those of the lines, which may name none.
    const [model] = models;
    const lines = completeLines(bytesOf(file), { endpoint, ...(model !== undefined && { model }) });
    const priced = await priceLines(lines, {
      ...{ endpoint, models },
      ...prices,
      ...(output !== undefined && { output }),
    });
    if (flags["--json"] === true) print(JSON.stringify(priced, null, 2));
    else if (priced.models.length > 0)
      print(`${pricesOf(priced)}\n\n${assumptions(output, prices.discount)}`);
    for (const { line, message } of priced.faults)
      printError(`weir: ${line === undefined ? "" : `line ${line}: `}${message}`);
    const isKnown = priced.models.length > 0 && priced.models.every(({ run }) => run !== undefined);
    return priced.faults.length === 0 && isKnown ? 0 : 1;
  },
};

function pricesOf({ models }: PricedBatch): string {
  const rows = models.map(({ model, lines, input, output, run, native }: ModelPrice) => [
    ...[model, showCount(lines), showCount(input), showCount(output)],
    ...(run && native
      ? [run.cost, run.most, native.cost, native.most].map(showMoney)
      : ["no price is known (PROVIDER/MODEL?)", "", "", ""]),
  ]);
  return table([
    ["MODEL", "LINES", "INPUT", "OUTPUT", "RUN BY WEIR", "AT MOST", "PROVIDER'S BATCH", "AT MOST"],
    ...rows,
  ]);
}

function assumptions(output: number | undefined, discount = 0): string {
  const outputs =
    output === undefined
      ? "OUTPUT is all that the lines permit (--output N: N tokens for each line), or the model's most."
      : `OUTPUT is ${showCount(output)} tokens for each line, or what it permits if that is less.`;
  const off = discount > 0 ? ` Run by weir: batches.discount takes ${discount * 100} % off.` : "";
  return [
    `INPUT is counted from the text, as a tokenizer would; providers may count some percent more or less.`,
    outputs,
    `AT MOST: no line with these limits costs more. PROVIDER'S BATCH: if it has a batch API, at its batch price.${off}`,
  ].join("\n");
}
