/** How an answer ended, in the words of this format. */
import type { FinishReason } from "../../core/events.ts";

export interface Ending {
  status: "completed" | "incomplete";
  /** Value of `incomplete_details.reason`. */
  incomplete?: "max_output_tokens" | "content_filter";
}

/** Encodes a finish reason. */
export function encodeFinish({ kind }: FinishReason): Ending {
  if (kind === "length") return { status: "incomplete", incomplete: "max_output_tokens" };
  if (kind === "content-filter") return { status: "incomplete", incomplete: "content_filter" };
  return { status: "completed" };
}

/** Text of a refusal if the vendor gave no explanation. */
const NEUTRAL_REFUSAL = "The model declined to answer.";

/** The text of a refusal that only the finish reason reports. An answer that a filter stopped has none. */
export function refusalOf(reason: FinishReason): string | undefined {
  if (reason.kind !== "content-filter") return undefined;
  return reason.explanation || (reason.raw === "refusal" ? NEUTRAL_REFUSAL : undefined);
}
