/** Encodes a tool result. Images and documents stay in it (src/formats/README.md#tool-results). */
import type { JsonObject } from "../../../core/json.ts";
import { blockPath } from "../../shared/paths.ts";
import type { AnsweredCall } from "../../shared/turn-groups.ts";
import { encodeBlock } from "./content.ts";
import type { EncodeContext } from "./context.ts";

/** Text of a result without content, which the provider refuses. */
const NO_OUTPUT = "(no output)";
/** Prefix of a failed result for models without a member for it. */
const FAILED = "[tool error] ";

export function encodeResult({ id, result, path }: AnsweredCall, context: EncodeContext): JsonObject {
  const parts = result.blocks.flatMap((block) => encodeBlock(block, blockPath(block, path), context));
  const content = parts.length > 0 ? parts : [{ text: NO_OUTPUT }];
  if (!result.error) return { toolResult: { toolUseId: id, content } };
  if (context.facts.resultStatus) return { toolResult: { toolUseId: id, content, status: "error" } };
  return { toolResult: { toolUseId: id, content: failed(content) } };
}

function failed(content: readonly JsonObject[]): JsonObject[] {
  const [first, ...others] = content;
  return typeof first?.text === "string"
    ? [{ text: FAILED + first.text }, ...others]
    : [{ text: FAILED.trim() }, ...content];
}
