/** `weir batches list|show|cancel|retry`: what the operations answer, as tables. */
import { type BookContext, runConnected } from "../../cli/books/command.ts";
import { showMoney, showTime } from "../../cli/books/show.ts";
import { countOf, textOf } from "../../cli/books/values.ts";
import { type Command, UsageError } from "../../cli/command.ts";
import { confirmed } from "../../cli/confirm.ts";
import { table } from "../../cli/terminal.ts";
import type { BatchDetails, BatchPage, ListedBatch } from "./contracts.ts";
import { progressWords } from "./words.ts";

type Run = Pick<Command, "run">;

const command = (run: (context: BookContext) => Promise<number | void>): Run => ({
  run: (context) => runConnected(context, run),
});

const placeOf = (id: string) => `/batches/${encodeURIComponent(id)}`;

export const list = command(async ({ api, flags, show }) => {
  const page = await api.send<BatchPage>("GET", "/batches", {
    query: {
      limit: countOf(flags, "--last") ?? 20,
      state: textOf(flags, "--status"),
      path: textOf(flags, "--path"),
      key: textOf(flags, "--key"),
    },
  });
  show(page, () => (page.batches.length === 0 ? "no batches" : tableOf(page.batches)));
});

export const show = command(async ({ api, words: [id], show: print }) => {
  const batch = await api.send<BatchDetails>("GET", placeOf(id!));
  print(batch, () => detailsText(batch));
});

export const cancel: Run = {
  async run(context) {
    const [id] = context.words;
    if (!(await confirmed(`Cancel the batch ${id}?`, context.flags))) {
      context.printError("weir: nothing was changed");
      return 1;
    }
    return runConnected(context, async ({ api, show: print }) => {
      const batch = await api.send<BatchDetails>("POST", `${placeOf(id!)}/cancel`);
      print(batch, () => `${batch.id} is ${batch.state}: ${progressWords(batch)}`);
    });
  },
};

export const retry: Run = {
  async run(context) {
    if (context.flags["--failed"] !== true)
      throw new UsageError("batches retry needs --failed: it makes a batch of the lines that failed");
    return runConnected(context, async ({ api, words: [id], show: print }) => {
      const batch = await api.send<BatchDetails>("POST", `${placeOf(id!)}/retry`);
      print(batch, () => `${batch.id} runs the failed lines of ${batch.retries}`);
    });
  },
};

function tableOf(batches: readonly ListedBatch[]): string {
  const rows = batches.map((batch) => [
    ...[batch.id, batch.state, progressWords(batch), showMoney(batch.cost), batch.model ?? batch.endpoint],
    ...[batch.keyName ?? batch.key ?? batch.path, showTime(batch.createdAt)],
  ]);
  return table([["ID", "STATE", "LINES", "COST", "MODEL", "KEY", "MADE (UTC)"], ...rows]);
}

function detailsText(batch: BatchDetails): string {
  const { usage, runner, faults } = batch;
  const facts: (readonly [string, string | undefined])[] = [
    ["batch", batch.id],
    ["name", batch.name],
    ["state", batch.reason === undefined ? batch.state : `${batch.state}: ${batch.reason}`],
    ["lines", progressWords(batch)],
    ["cost", showMoney(batch.cost)],
    ["tokens", `${usage.input} in (${usage.cached} cached), ${usage.output} out`],
    ["asks", batch.endpoint],
    ["model", batch.model],
    ["path", batch.path],
    ["key", batch.keyName ?? batch.key],
    ["made", showTime(batch.createdAt)],
    ["deadline", showTime(batch.deadline)],
    ["ended", batch.endedAt === undefined ? undefined : showTime(batch.endedAt)],
    ["input", `file-${batch.inputFile}`],
    ["output", batch.outputFile && `file-${batch.outputFile}`],
    ["errors", batch.errorFile && `file-${batch.errorFile}`],
    ["retries", batch.retries],
    ["runner", runner && `${runner.node}, fence ${runner.fence}`],
  ];
  const known = facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  if (faults.length === 0) return table(known);
  const rows = faults.map(({ line, code, message }) => [line === undefined ? "" : `${line}`, code, message]);
  return `${table(known)}\n\n${table([["LINE", "CODE", "FAULT"], ...rows])}`;
}
