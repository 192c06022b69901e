/** Encodes a tool result. Images and files stay in it (src/formats/README.md#tool-results). */
import type { Json, JsonObject } from "../../../core/json.ts";
import { blockPath } from "../../shared/paths.ts";
import type { AnsweredCall } from "../../shared/turn-groups.ts";
import { contentOf, encodeInput, inputText, type EncodeContext } from "./content.ts";

/** Prefix of the text of a failed result, because the format has no member for it. */
const FAILED = "[tool error] ";

/** @param isCustom the call went out as a call of a custom tool */
export function encodeResult(
  { id, result, path }: AnsweredCall,
  isCustom: boolean,
  context: EncodeContext,
): JsonObject {
  const parts = result.blocks.flatMap((block) => encodeInput(block, blockPath(block, path), context));
  return {
    type: isCustom ? "custom_tool_call_output" : "function_call_output",
    call_id: id,
    output: outputOf(result.error ? failed(parts) : parts),
  };
}

function outputOf(parts: readonly JsonObject[]): Json {
  return contentOf(parts, "\n");
}

function failed(parts: readonly JsonObject[]): JsonObject[] {
  const [first, ...others] = parts;
  if (first?.type !== "input_text") return [inputText(FAILED.trim()), ...parts];
  return [{ ...first, text: `${FAILED}${String(first.text)}` }, ...others];
}
