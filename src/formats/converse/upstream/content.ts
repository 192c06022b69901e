/** Encodes canonical blocks as content blocks of a user or of an assistant. */
import type { Block, DocumentBlock, ForeignBlock, ReasoningBlock } from "../../../core/chat.ts";
import type { JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { blockPath } from "../../shared/paths.ts";
import { unsupportedContent } from "../../shared/content.ts";
import { type EncodeContext, FORMAT } from "./context.ts";
import { encodeRedacted, reasoningOrigin } from "../reasoning.ts";
import { encodeFile, encodeImage, refused, reportCitations, textBlock } from "./media.ts";

/**
 * Encodes a block of a user, a system prompt or a tool result.
 * @throws GatewayError `invalid-request` for content that weir can neither translate nor drop
 */
export function encodeBlock(block: Block, path: string, context: EncodeContext): JsonObject[] {
  switch (block.type) {
    case "text":
      return (block.onlyFor ?? FORMAT) === FORMAT ? textBlock(block.text) : [];
    case "refusal":
      return textBlock(block.text);
    case "image":
      return encodeImage(block, path, context);
    case "document":
      return encodeDocument(block, path, context);
    case "audio":
      throw refused(path, "does not accept audio input", context);
    case "foreign":
      return encodeForeign(block, path, context);
    default:
      return [];
  }
}

/**
 * Encodes a block that only one format knows: unchanged for its own format, else as its equivalent block or its text.
 * @throws GatewayError for a block that has neither
 */
function encodeForeign(block: ForeignBlock, path: string, context: EncodeContext): JsonObject[] {
  if (block.format === FORMAT && isObject(block.value)) return [{ ...block.value }];
  if (block.instead) return encodeBlock(block.instead, path, context);
  if (block.text === undefined) throw unsupportedContent(block, path, context.model);
  context.reportLoss("converted", path, "sent as text");
  return textBlock(block.text);
}

/** Title and context go before the document as text: its name must say nothing, because the model may obey it. */
function encodeDocument(block: DocumentBlock, path: string, context: EncodeContext): JsonObject[] {
  const { title, context: about, source } = block;
  const heading = textBlock([title, about].filter((part) => part !== undefined && part !== "").join("\n"));
  if (source.type !== "blocks") return [...heading, ...encodeFile(block, source, path, context)];
  reportCitations(block, path, context);
  return [
    ...heading,
    ...source.blocks.flatMap((inner) => encodeBlock(inner, blockPath(inner, path), context)),
  ];
}

/**
 * Sends signed and encrypted reasoning back unchanged, only to the provider that made it, and plain reasoning only to models
 * that take it.
 */
export function encodeReasoning(block: ReasoningBlock, path: string, context: EncodeContext): JsonObject[] {
  const { facts, provider, traits } = context;
  const { text, signature, redacted, origin } = block;
  const isOwn = origin === reasoningOrigin(provider, facts);
  if (isOwn && redacted !== undefined)
    return [{ reasoningContent: { redactedContent: encodeRedacted(redacted, facts) } }];
  if (isOwn && signature) return [{ reasoningContent: { reasoningText: { text, signature } } }];
  const takesText = facts.replay === "text" && traits.reasoningReplay !== "forbidden";
  if (takesText && (isOwn || origin === undefined) && text !== "" && !signature)
    return [{ reasoningContent: { reasoningText: { text } } }];
  if (text || signature || redacted)
    context.reportLoss(
      "dropped",
      path,
      isOwn || origin === undefined
        ? "the model does not take unsigned reasoning"
        : "another model made this reasoning",
    );
  return [];
}
