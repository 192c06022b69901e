/** Encodes tool results as function responses (src/formats/README.md#tool-results). */
import type { ToolResultBlock } from "../../../core/chat.ts";
import type { JsonObject } from "../../../core/json.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import { blockPath } from "../../shared/paths.ts";
import type { AnsweredCall } from "../../shared/turn-groups.ts";
import { idMember } from "./call-ids.ts";
import { encodeBlock, type EncodeContext } from "./content.ts";

export interface EncodedResults {
  /** One function response for each call, in the order of the calls. */
  responses: JsonObject[];
  /** Parts for the content behind the responses. */
  attached: JsonObject[];
}

export function encodeResults(calls: readonly AnsweredCall[], context: EncodeContext): EncodedResults {
  const attached: JsonObject[] = [];
  const responses = calls.map(({ id, call, result, path }) => {
    const name = context.names.send(call.name);
    const { texts, media } = partsOf(result, path, context);
    const inside = context.facts.mediaInResponses ? media.filter(isInline) : [];
    const behind = media.filter((part) => !inside.includes(part));
    if (behind.length > 0) attached.push({ text: `[media of the result of ${call.name}]` }, ...behind);
    return {
      functionResponse: {
        ...idMember(call.id, id, context.traits),
        name,
        response: responseOf(texts.join("\n"), result.error === true),
        ...(inside.length > 0 && { parts: inside }),
      },
    };
  });
  return { responses, attached };
}

/** The parts of a result that answers no call, as text of the user. */
export function orphanParts(result: ToolResultBlock, path: string, context: EncodeContext): JsonObject[] {
  const { texts, media } = partsOf(result, path, context);
  const text = `[result of tool ${result.name || result.id || "unknown"}] ${texts.join("\n")}`.trimEnd();
  return [{ text }, ...media];
}

function partsOf(
  result: ToolResultBlock,
  path: string,
  context: EncodeContext,
): { texts: string[]; media: JsonObject[] } {
  const parts = result.blocks.flatMap((block) => encodeBlock(block, blockPath(block, path), context));
  return {
    texts: parts.flatMap((part) => (typeof part.text === "string" ? [part.text] : [])),
    media: parts.filter((part) => typeof part.text !== "string"),
  };
}

function isInline(part: JsonObject): boolean {
  return part.inlineData !== undefined;
}

/** `output` and `error` are the members that Google documents. */
function responseOf(text: string, failed: boolean): JsonObject {
  if (failed) return { error: text };
  const value = text.trimStart().startsWith("{") ? parseJson(text) : undefined;
  return { output: isObject(value) ? value : text };
}
