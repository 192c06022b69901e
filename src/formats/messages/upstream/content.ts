/** Canonical blocks → Messages content blocks. */
import type { Call } from "../../../core/call.ts";
import type {
  Block,
  DocumentBlock,
  ForeignBlock,
  ImageBlock,
  ReasoningBlock,
  Source,
} from "../../../core/chat.ts";
import { invalidRequest } from "../../../core/error.ts";
import type { JsonObject } from "../../../core/json.ts";
import { decodeBase64Text, identifyMedia, isTextMediaType } from "../../../core/media.ts";
import type { ModelFacts } from "../models.ts";
import { unsupportedContent } from "../../shared/unsupported-content.ts";
import { NATIVE_ORIGIN } from "../reasoning.ts";

export const FORMAT = "messages";

/** What context needs to know besides the block. */
export interface EncodeContext {
  call: Call;
  facts: ModelFacts;
  /** The answer is bound to a schema, which citations exclude. */
  bound: boolean;
}

/** A block as text when that is all the format has for it; blank text is no block. */
export function textBlock(text: string): JsonObject[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

/**
 * The wire form of one block that is neither a call nor a result; several, or none where it cannot be shown.
 * @throws GatewayError `invalid-request` for what this format cannot carry and an answer cannot do without.
 */
export function encodeBlock(block: Block, path: string, context: EncodeContext): JsonObject[] {
  const blocks = encodeContent(block, path, context);
  const last = blocks.at(-1);
  if (last && "cache" in block && block.cache) last.cache_control = { type: "ephemeral", ...block.cache };
  return blocks;
}

function encodeContent(block: Block, path: string, context: EncodeContext): JsonObject[] {
  switch (block.type) {
    case "text":
    case "refusal":
      return textBlock(block.text);
    case "image":
      return encodeImage(block, path, context);
    case "document":
      return encodeDocument(block, path, context);
    case "reasoning":
      return encodeReasoning(block, path, context);
    case "audio":
      throw refused(path, "audio input cannot be read", context);
    case "foreign":
      return encodeForeign(block, path, context);
    case "tool-call":
    case "tool-result":
      return [];
  }
}

/**
 * Its own blocks as they are; others as the block they stand for, or in their plain-text reading.
 * @throws GatewayError for a block the model would not see
 */
function encodeForeign(block: ForeignBlock, path: string, context: EncodeContext): JsonObject[] {
  if (block.format === FORMAT) return [{ ...(block.value as JsonObject) }];
  if (block.instead) return encodeContent(block.instead, path, context);
  if (block.text === undefined) throw unsupportedContent(block, path, context.call.model);
  context.call.reportLoss("converted", path, "written as text");
  return textBlock(block.text);
}

function refused(path: string, what: string, { call }: EncodeContext) {
  return invalidRequest(`${path}: ${what} by the model ${call.model}.`, path, "unsupported_value");
}

const IMAGE_TYPES = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);

function encodeImage(block: ImageBlock, path: string, context: EncodeContext): JsonObject[] {
  if (context.call.target?.provider.traits?.images === false) {
    context.call.reportLoss("dropped", path, "the provider takes no images");
    return [{ type: "text", text: "[image omitted]" }];
  }
  if (block.source.type !== "base64")
    return [{ type: "image", source: encodePlace(block.source, path, context) }];
  const media = identifyMedia(block.source.mediaType, block.source.data);
  if (!IMAGE_TYPES.has(media.mediaType))
    throw invalidRequest(
      `${path}: unsupported image type ${media.mediaType || "(none)"}; use JPEG, PNG, GIF or WebP.`,
      path,
      "unsupported_value",
    );
  return [{ type: "image", source: base64Source(media.mediaType, media.data) }];
}

function base64Source(mediaType: string, data: string): JsonObject {
  return { type: "base64", media_type: mediaType, data };
}

/** A URL the vendor can fetch itself, or a file id of its own. */
function encodePlace(
  source: Exclude<Source, { type: "base64" }>,
  path: string,
  context: EncodeContext,
): JsonObject {
  if (source.type === "file") {
    if (context.call.format === FORMAT) return { type: "file", file_id: source.id };
    throw refused(path, "a file_id of another vendor cannot be read", context);
  }
  if (!isPublicHttps(source.url))
    throw invalidRequest(
      `${path}: only public https URLs can be fetched; send the bytes as a data URI instead.`,
      path,
      "unsupported_value",
    );
  return { type: "url", url: source.url };
}

const PRIVATE_HOST =
  /^(?:localhost|.*\.(?:local|localhost|internal|lan|home)|0\..*|10\..*|127\..*|169\.254\..*|192\.168\..*|172\.(?:1[6-9]|2\d|3[01])\..*|\[.*\]|[^.]+)$/i;

function isPublicHttps(text: string): boolean {
  const url = URL.parse(text);
  return url?.protocol === "https:" && !url.username && !PRIVATE_HOST.test(url.hostname);
}

function encodeDocument(block: DocumentBlock, path: string, context: EncodeContext): JsonObject[] {
  if (block.citations && context.bound) context.call.reportLoss("dropped", `${path}.citations`);
  const source = encodeDocumentSource(block, path, context);
  if (!source) return [];
  return [
    {
      type: "document",
      source,
      ...(block.title !== undefined && { title: block.title }),
      ...(block.context !== undefined && { context: block.context }),
      ...(block.citations && !context.bound && { citations: { enabled: true } }),
    },
  ];
}

/** Nothing for a text document that is blank. */
function encodeDocumentSource(
  block: DocumentBlock,
  path: string,
  context: EncodeContext,
): JsonObject | undefined {
  const { source } = block;
  switch (source.type) {
    case "text":
      return textSource(source.text);
    case "blocks":
      return {
        type: "content",
        content: source.blocks.flatMap((inner) => encodeBlock(inner, path, context)),
      };
    case "base64":
      return encodeFile(identifyMedia(source.mediaType, source.data), path);
    default:
      return encodePlace(source, path, context);
  }
}

function encodeFile(
  { mediaType, data }: { mediaType: string; data: string },
  path: string,
): JsonObject | undefined {
  if (mediaType === "application/pdf") return base64Source(mediaType, data);
  const text = isTextMediaType(mediaType) ? decodeBase64Text(data) : undefined;
  if (text === undefined)
    throw invalidRequest(
      `${path}: unsupported file type ${mediaType || "(none)"}; use PDF or a text format.`,
      path,
      "unsupported_value",
    );
  return textSource(text);
}

function textSource(text: string): JsonObject | undefined {
  return text.trim() === "" ? undefined : { type: "text", media_type: "text/plain", data: text };
}

/** Who signs the reasoning of the model a call goes to. */
export function reasoningOrigin(call: Call, facts: ModelFacts): string {
  return facts.claude ? NATIVE_ORIGIN : (call.target?.provider.name ?? NATIVE_ORIGIN);
}

/**
 * Reasoning goes back, unchanged, to whoever signed it, and to nobody else. Without a signature it is history for the eye,
 * sent only where a provider insists on it.
 */
function encodeReasoning(block: ReasoningBlock, path: string, { call, facts }: EncodeContext): JsonObject[] {
  const own = block.origin === reasoningOrigin(call, facts);
  if (own && block.redacted !== undefined) return [{ type: "redacted_thinking", data: block.redacted }];
  if (own && block.signature) return [{ type: "thinking", thinking: block.text, signature: block.signature }];
  const replay = call.target?.provider.traits?.reasoningReplay ?? "forbidden";
  if (!facts.claude && replay !== "forbidden" && block.text && !block.signature)
    return [{ type: "thinking", thinking: block.text, signature: "" }];
  if (block.text || block.signature || block.redacted)
    call.reportLoss("dropped", path, "reasoning another model signed");
  return [];
}
