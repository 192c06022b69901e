/** How an answer ended, in the words of this format. */
import type { FinishKind, FinishReason } from "../../core/events.ts";
import type { JsonObject } from "../../core/json.ts";
import { isObject } from "../../core/json.ts";

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

/** Facts about an answer that decide its finish reason. */
export interface AnswerFacts {
  toolCalls: number;
  /** The answer contains a refusal. */
  hasRefused: boolean;
}

/** The states of an answer that ended regularly, or has not ended. */
const REGULAR: ReadonlySet<string> = new Set(["completed", "in_progress", "queued"]);

/** Decodes the status of a response. One that ended too early for a reason that weir does not know counts as cut off. */
export function decodeStatus(response: JsonObject, { toolCalls, hasRefused }: AnswerFacts): FinishReason {
  const { status, incomplete_details: details } = response;
  if (status !== "incomplete") {
    const isKnown = typeof status !== "string" || REGULAR.has(status);
    const kind: FinishKind =
      toolCalls > 0 ? "tool-calls" : hasRefused ? "content-filter" : isKnown ? "stop" : "length";
    return { kind, ...(typeof status === "string" && { raw: status }) };
  }
  const raw = isObject(details) && typeof details.reason === "string" ? details.reason : status;
  return { kind: raw === "content_filter" ? "content-filter" : "length", raw };
}
