/** Encodes a tool result as a tool message and attachments (src/formats/README.md#tool-results). */
import type { Block, ToolResultBlock } from "../../../core/chat.ts";
import type { JsonObject } from "../../../core/json.ts";
import { blockPath } from "../../shared/paths.ts";
import { contentOf, type EncodeContext, encodePart, textPart } from "./content.ts";

/** Prefix of the text of a failed result, because the format has no member for it. */
const FAILED = "[tool error] ";

export interface EncodedResult {
  message: JsonObject;
  /** Parts for the user message after the last tool message. */
  attached: JsonObject[];
}

/** @param id id of the call for the provider */
export function encodeResult(
  result: ToolResultBlock,
  id: string,
  path: string,
  context: EncodeContext,
): EncodedResult {
  const attached: JsonObject[] = [];
  let seen = 0;
  const parts = result.blocks.flatMap((block) => {
    const encoded = encodePart(block, blockPath(block, path), context);
    if (context.traits.imageInToolMessage || !isAttachment(block, encoded)) return encoded;
    attached.push(...encoded);
    return [textPart(`[${block.type} ${++seen} of call ${id} follows]`)];
  });
  const content = contentOf(result.error ? failed(parts) : parts, "\n") ?? "";
  return { message: { role: "tool", tool_call_id: id, content }, attached };
}

/** Whether a block is an image or a file; a text document is not. */
function isAttachment(block: Block, encoded: readonly JsonObject[]): boolean {
  if (block.type !== "image" && block.type !== "document") return false;
  return encoded.some((part) => part.type !== "text");
}

function failed(parts: readonly JsonObject[]): JsonObject[] {
  const [first, ...others] = parts;
  if (first?.type !== "text") return [textPart(FAILED.trim()), ...parts];
  return [{ ...first, text: `${FAILED}${String(first.text)}` }, ...others];
}
