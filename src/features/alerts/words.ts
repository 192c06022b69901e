/** What became of what an alert says, in words. */
import type { SentAlert } from "./contracts.ts";

/** Of what begins, whether it goes on; empty for the others. */
export function endWords({ state, at, endedAt }: Pick<SentAlert, "state" | "at" | "endedAt">): string {
  if (state !== "begins") return "";
  if (endedAt === undefined) return "goes on";
  if (endedAt === 0) return "end not seen: weir has restarted since";
  const seconds = Math.round((endedAt - at) / 1_000);
  return `over after ${seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`}`;
}
