/** Counts what has ended of a batch. */
import type { KeeperHost } from "../../keeper/seams.ts";
import { type Batch, type Ending, isEnd } from "./batch.ts";
import { batchesEnded, batchLines } from "./metrics.ts";

const ENDINGS: readonly Ending[] = ["done", "failed", "cancelled", "late"];

/** Counts what has ended between two rows of a batch. */
export function countChange(count: KeeperHost["count"], before: Batch, after: Batch): void {
  for (const ending of ENDINGS) {
    const more = after[ending] - before[ending];
    if (more > 0) count(batchLines, [ending], more);
  }
  if (isEnd(after.state) && !isEnd(before.state)) count(batchesEnded, [after.state], 1);
}
