/** Encodes canonical blocks as parts. */
import type {
  AudioBlock,
  Block,
  DocumentBlock,
  ForeignBlock,
  ImageBlock,
  Source,
} from "../../../core/chat.ts";
import { invalidRequest } from "../../../core/error.ts";
import type { ToolNames } from "../../../core/ids.ts";
import type { JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { decodeBase64Text, identifyMedia, isTextMediaType } from "../../../core/media.ts";
import { headingOf, unsupportedContent, withTitle } from "../../shared/content.ts";
import type { EncodeContext as BaseContext } from "../../shared/encode-context.ts";
import { blockPath } from "../../shared/paths.ts";
import type { ModelFacts } from "../models.ts";
import { FORMAT } from "../own-fields.ts";
import { fileUrlPart } from "./file-url.ts";

/** Context of encoding a request. */
export interface EncodeContext extends BaseContext {
  facts: ModelFacts;
  names: ToolNames;
}

/** Encodes text; no part for blank text, which Google refuses. */
export function textParts(text: string): JsonObject[] {
  return /\S/.test(text) ? [{ text }] : [];
}

/**
 * Encodes a block that is neither reasoning nor a call nor a result.
 * @throws GatewayError `invalid-request` for content that weir can neither translate nor drop
 */
export function encodeBlock(block: Block, path: string, context: EncodeContext): JsonObject[] {
  switch (block.type) {
    case "text":
      return (block.onlyFor ?? FORMAT) === FORMAT ? textParts(block.text) : [];
    case "refusal":
      return textParts(block.text);
    case "image":
      return [encodeImage(block, path, context)];
    case "document":
      return encodeDocument(block, path, context);
    case "audio":
      return [encodeAudio(block)];
    case "foreign":
      return encodeForeign(block, path, context);
    case "reasoning":
    case "tool-call":
    case "tool-result":
      return [];
  }
}

/**
 * Encodes a block that only one format knows: unchanged for its own format, else as its equivalent block or its text.
 * @throws GatewayError for a block that has neither
 */
function encodeForeign(block: ForeignBlock, path: string, context: EncodeContext): JsonObject[] {
  if (block.format === FORMAT && isObject(block.value)) return [block.value];
  if (block.instead) return encodeBlock(block.instead, path, context);
  if (block.text === undefined) throw unsupportedContent(block, path, context.model);
  context.reportLoss("converted", path, "sent as text");
  return textParts(block.text);
}

function inline(mimeType: string, data: string): JsonObject {
  return { inlineData: { mimeType, data } };
}

const IMAGE_TYPES: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/webp",
  "image/heic",
  "image/heif",
]);

function encodeImage({ source }: ImageBlock, path: string, context: EncodeContext): JsonObject {
  if (context.traits.images === false) {
    context.reportLoss("dropped", path, "the provider does not accept images");
    return { text: "[image omitted]" };
  }
  if (source.type !== "base64") return encodeReference(source, "image", path, context);
  const { mediaType, data } = identifyMedia(source.mediaType, source.data);
  if (IMAGE_TYPES.has(mediaType)) return inline(mediaType, data);
  throw invalidRequest(
    `${path}: unsupported image type ${mediaType || "(none)"}; use PNG, JPEG, WebP, HEIC or HEIF.`,
    path,
    "unsupported_value",
  );
}

/** Encodes the URL or the id of a file. */
function encodeReference(
  source: Exclude<Source, { type: "base64" }>,
  kind: "image" | "document",
  path: string,
  context: EncodeContext,
): JsonObject {
  if (source.type === "url") return fileUrlPart(source.url, kind, path, context.traits);
  if (context.sameFormat) return { fileData: { fileUri: source.id } };
  throw invalidRequest(
    `${path}: this provider cannot read a file id of another vendor; send the content of the file.`,
    path,
    "unsupported_value",
  );
}

function encodeAudio({ data, format }: AudioBlock): JsonObject {
  return inline(format.includes("/") ? format : `audio/${format}`, data);
}

function encodeDocument(block: DocumentBlock, path: string, context: EncodeContext): JsonObject[] {
  const { source } = block;
  if (block.citations)
    context.reportLoss("dropped", `${path}.citations`, "the answer will have no citations");
  switch (source.type) {
    case "text":
      return /\S/.test(source.text) ? textParts(withTitle(block, source.text)) : [];
    case "blocks":
      return [
        ...textParts(headingOf(block)),
        ...source.blocks.flatMap((inner) => encodeBlock(inner, blockPath(inner, path), context)),
      ];
    case "base64":
      return encodeFile(block, source, path);
    default:
      return [...textParts(headingOf(block)), encodeReference(source, "document", path, context)];
  }
}

function encodeFile(
  block: DocumentBlock,
  source: { mediaType: string; data: string },
  path: string,
): JsonObject[] {
  const { mediaType, data } = identifyMedia(source.mediaType, source.data);
  const text = isTextMediaType(mediaType) ? decodeBase64Text(data) : undefined;
  if (text !== undefined) return textParts(withTitle(block, text));
  if (mediaType === "application/pdf" || /^(?:audio|video)\//.test(mediaType) || IMAGE_TYPES.has(mediaType))
    return [...textParts(headingOf(block)), inline(mediaType, data)];
  throw invalidRequest(
    `${path}: unsupported file type ${mediaType || "(none)"}; use PDF, audio, video or a text format.`,
    path,
    "unsupported_value",
  );
}
