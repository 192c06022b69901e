/** The items of compactions: those that weir made are an opaque summary of the conversation, those of a vendor only it can read. */
import { type GatewayError, invalidRequest } from "../../core/error.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { isObject, parseJson } from "../../core/json.ts";
import { unwrap, wrap } from "../../core/provenance.ts";
import { text } from "../shared/read.ts";

/** Whether an input item asks for a compaction. It is a control signal: not part of the conversation. */
export function isTrigger(item: Json): boolean {
  return isObject(item) && item.type === "compaction_trigger";
}

/** Stands in the place of a provider's name. */
const ORIGIN = "compaction";

/** Encodes a summary as `encrypted_content` of a `compaction` item. @param model that wrote the summary */
export function sealSummary(summary: string, model: string): string {
  return wrap(ORIGIN, JSON.stringify({ v: 1, summary, model }));
}

/** The summary in a `compaction` item; `undefined` for the item of a vendor, which only that vendor can read. */
export function openSummary({ encrypted_content: sealed }: JsonObject): string | undefined {
  const opened = typeof sealed === "string" ? unwrap(sealed) : undefined;
  if (opened?.origin !== ORIGIN) return undefined;
  const payload = parseJson(opened.payload);
  return isObject(payload) ? text(payload.summary) : undefined;
}

/** The text in which a provider gets a summary. */
export function summaryText(summary: string): string {
  return `Summary of the conversation so far:\n\n${summary}`;
}

/** Whether an input item is a compaction that weir cannot read. */
export function isForeign(item: Json): boolean {
  return isObject(item) && item.type === "compaction" && openSummary(item) === undefined;
}

/** The error for such an item where its vendor does not get it: the model would answer without the conversation. */
export function unreadable(path: string, model: string): GatewayError {
  return invalidRequest(
    `${path}: this compaction stands for the conversation, and only the vendor that made it can read it. ` +
      `Send it to a model of that vendor, or compact the conversation with the model ${model}: that summary every provider can read.`,
    path,
    "unsupported_value",
  );
}
