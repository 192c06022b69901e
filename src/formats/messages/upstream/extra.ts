/** Encodes fields without a canonical equivalent. */
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";

/** Members that `encodeRequest` joins with encoded ones. */
const JOINED: ReadonlySet<string> = new Set(["thinking", "output_config", "metadata"]);

/**
 * @param extra fields of this format, without those of others @returns undefined if there are none
 * @param thinkingDropped the client asked for thinking and the encoded request does not
 */
export function encodeExtra(extra: JsonObject, thinkingDropped: boolean): JsonObject | undefined {
  if (isEmpty(extra)) return undefined;
  const { context_management: management, ...others } = extra;
  return {
    ...Object.fromEntries(Object.entries(others).filter(([name]) => !JOINED.has(name))),
    ...encodeContextManagement(management, thinkingDropped),
  };
}

function isEmpty(members: JsonObject): boolean {
  for (const _ in members) return false;
  return true;
}

/** Drops edits that clear thinking together with `thinking`: Anthropic refuses them without it. */
function encodeContextManagement(value: Json | undefined, thinkingDropped: boolean): JsonObject {
  if (value === undefined) return {};
  if (!thinkingDropped || !isObject(value) || !Array.isArray(value.edits))
    return { context_management: value };
  const edits = value.edits.filter(
    (edit) => !(isObject(edit) && String(edit.type).startsWith("clear_thinking")),
  );
  return edits.length > 0 ? { context_management: { ...value, edits } } : {};
}
