/** `weir store prune --bodies`: deletes what was captured. */
import { bookCommand, isDryRun } from "../../cli/books/command.ts";
import { withProgress } from "../../cli/books/progress.ts";
import { pruneText } from "../../cli/books/store.ts";
import type { Pruned } from "../../operator/books.ts";

export const { run } = bookCommand({
  name: "store prune",
  summary: "delete what was captured",
  asks: () => "Delete all captured requests and answers?",
  async run({ api, flags, show }) {
    const dryRun = isDryRun(flags);
    const work = api.send<Pruned>("DELETE", "/captures", { query: { dryRun } });
    const result = await withProgress(dryRun ? "counting" : "deleting", work);
    show(result, () => pruneText(result, dryRun));
  },
});
