/** `weir batches wait ID`: resolves when a batch has ended. */
import { type BookContext, runConnected } from "../../cli/books/command.ts";
import { showMoney } from "../../cli/books/show.ts";
import { countOf } from "../../cli/books/values.ts";
import type { Command } from "../../cli/command.ts";
import { isEnd } from "./batch.ts";
import type { BatchDetails } from "./contracts.ts";
import { ProgressLine } from "./local/progress.ts";
import { progressWords } from "./words.ts";

const POLL_MS = 1_000;
/** The batch has not ended in the time of `--timeout`, as with `timeout` of coreutils. */
const EXIT_TIMEOUT = 124;
const EXIT_FAILED = 1;

export const wait: Pick<Command, "run"> = { run: (context) => runConnected(context, waited) };

async function waited({ api, words: [id], flags, show, printError }: BookContext): Promise<number> {
  const until = Date.now() + 1_000 * (countOf(flags, "--timeout") ?? Infinity);
  const progress = new ProgressLine();
  try {
    for (;;) {
      const batch = await api.send<BatchDetails>("GET", `/batches/${encodeURIComponent(id!)}`);
      if (isEnd(batch.state)) {
        progress.clear();
        show(batch, () => endOf(batch));
        return batch.state === "done" && batch.failed === 0 ? 0 : EXIT_FAILED;
      }
      const left = until - Date.now();
      if (left <= 0) {
        progress.clear();
        printError(`weir: ${batch.id} has not ended: ${progressWords(batch)}`);
        return EXIT_TIMEOUT;
      }
      progress.show(nowOf(batch));
      await Bun.sleep(Math.min(POLL_MS, left));
    }
  } finally {
    progress.clear();
  }
}

function nowOf({ lines, done, failed, cancelled, late, cost, state, reason }: BatchDetails) {
  const ended = done + failed + cancelled + late;
  return {
    ...{ lines, ended, failed: ended - done, cost },
    ...(state === "paused" && reason !== undefined && { paused: reason }),
  };
}

function endOf(batch: BatchDetails): string {
  const { id, state, reason, cost } = batch;
  if (reason !== undefined && state === "refused") return `${id} is refused: ${reason}`;
  return `${id} is ${state}: ${progressWords(batch)}; cost: ${showMoney(cost)}`;
}
