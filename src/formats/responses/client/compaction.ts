/** The items of a compaction that weir made itself: an opaque summary of the conversation. */
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import { unwrap, wrap } from "../../../core/provenance.ts";
import { text } from "../../shared/read.ts";

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
