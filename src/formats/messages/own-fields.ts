/** The effect when a provider of another format cannot receive a field of this one (src/formats/README.md#own-fields). */
import type { OwnFields } from "../../core/chat.ts";
import type { Json } from "../../core/json.ts";
import { isObject } from "../../core/json.ts";
import { list } from "../shared/read.ts";
import { always } from "../shared/own-fields.ts";

/** The id of the format. The fields that only this format has are in `ChatRequest.extra` under it. */
export const FORMAT = "messages";

export const OWN_FIELDS: OwnFields = {
  container: { refuse: always },
  mcp_servers: { refuse: (value) => !Array.isArray(value) || value.length > 0 },
  compaction: { refuse: always },
  fallbacks: { refuse: always },
  // Claude Code then repeats the request without it and runs its own check.
  safeguards: { refuse: always, reason: "the provider runs no safeguards" },
  // Without it weir would break a promise about the location of data.
  inference_geo: { refuse: (value) => value !== "global" },
  speed: { report: (value) => value === "fast" },
  context_management: { report: hasLossyEdit },
  output_format: { report: always },
};

/** A translation drops old thinking anyway; other edits change what the model sees. */
function hasLossyEdit(value: Json): boolean {
  if (!isObject(value)) return true;
  const { edits, ...others } = value;
  if (Object.values(others).some((other) => other != null)) return true;
  return list(edits).some((edit) => !isObject(edit) || !String(edit.type).startsWith("clear_thinking"));
}
