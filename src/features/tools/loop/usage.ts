/** The token counts of an answer that took several turns. */
import { type Usage, usageState } from "../../../core/events.ts";

const COUNTS = [
  "cacheWrite1h",
  "cacheReadAudio",
  "audioIn",
  "imageIn",
  "audioOut",
  "imageOut",
  "searches",
  "reported",
] as const;

export function addUsage(sum: Usage | undefined, next: Usage): Usage {
  if (!sum) return next;
  const added: Usage = {
    ...sum,
    ...next,
    input: sum.input + next.input,
    cacheRead: sum.cacheRead + next.cacheRead,
    cacheWrite: sum.cacheWrite + next.cacheWrite,
    output: sum.output + next.output,
    reasoning: sum.reasoning + next.reasoning,
  };
  for (const name of COUNTS) {
    const count = (sum[name] ?? 0) + (next[name] ?? 0);
    if (count > 0) added[name] = count;
  }
  const beside = [...(sum.beside ?? []), ...(next.beside ?? [])];
  if (beside.length > 0) added.beside = beside;
  const isFinal = usageState(sum) === "final" && usageState(next) === "final";
  added.known = isFinal ? "final" : "partial";
  return added;
}
