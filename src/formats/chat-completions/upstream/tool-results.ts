/** A tool result → its tool message, and what cannot stand in one (src/formats/README.md#tool-results). */
import type { Block, ToolResultBlock } from "../../../core/chat.ts";
import type { JsonObject } from "../../../core/json.ts";
import { contentOf, type EncodeContext, encodePart, textPart } from "./content.ts";

/** What stands before the text of a failed result: the format has no member for it. */
const FAILED = "[tool error] ";

export interface EncodedResult {
  message: JsonObject;
  /** Parts for the user message behind the last tool message. */
  attached: JsonObject[];
}

/** @param id of the call, as the upstream reads it. */
export function encodeResult(
  result: ToolResultBlock,
  id: string,
  path: string,
  context: EncodeContext,
): EncodedResult {
  const attached: JsonObject[] = [];
  let seen = 0;
  const parts = result.blocks.flatMap((block, index) => {
    const encoded = encodePart(block, `${path}.content[${index}]`, context);
    if (context.traits.imageInToolMessage || !isAttachment(block, encoded)) return encoded;
    attached.push(...encoded);
    return [textPart(`[${block.type} ${++seen} of call ${id} follows]`)];
  });
  const content = contentOf(result.error ? failed(parts) : parts, "\n") ?? "";
  return { message: { role: "tool", tool_call_id: id, content }, attached };
}

/** Images and files; a document that turned out to be text is none. */
function isAttachment(block: Block, encoded: readonly JsonObject[]): boolean {
  if (block.type !== "image" && block.type !== "document") return false;
  return encoded.some((part) => part.type !== "text");
}

function failed(parts: readonly JsonObject[]): JsonObject[] {
  const [first, ...others] = parts;
  if (first?.type !== "text") return [textPart(FAILED.trim()), ...parts];
  return [{ ...first, text: `${FAILED}${String(first.text)}` }, ...others];
}
