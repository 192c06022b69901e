/** Words for people about batches, for commands and the console. */
import type { ListedBatch } from "./contracts.ts";

type Counts = Pick<ListedBatch, "lines" | "done" | "failed" | "cancelled" | "late">;

/** `40 of 50, 2 failed, 3 late`. */
export function progressWords({ lines, done, failed, cancelled, late }: Counts): string {
  if (lines === 0) return "not counted yet";
  const ended = done + failed + cancelled + late;
  const others = Object.entries({ failed, cancelled, late }).filter(([, number]) => number > 0);
  return [`${ended} of ${lines}`, ...others.map(([word, number]) => `${number} ${word}`)].join(", ");
}
