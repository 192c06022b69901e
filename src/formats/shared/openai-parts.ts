/** Encodes canonical blocks as content parts in the shapes of chat-completions, which other formats of OpenAI rename. */
import type { Block, CacheMark, DocumentBlock, ForeignBlock, ImageBlock } from "../../core/chat.ts";
import { invalidRequest } from "../../core/error.ts";
import type { ToolNames } from "../../core/ids.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { decodeBase64Text, isTextMediaType, writeDataUri } from "../../core/media.ts";
import { headingOf, unsupportedContent, withTitle } from "./content.ts";
import { blockPath } from "./paths.ts";
import type { EncodeContext } from "./encode-context.ts";
import type { ModelFacts } from "./openai-models.ts";

/** Context of encoding a request. */
export interface PartContext extends EncodeContext {
  /** The provider's format. */
  format: string;
  facts: ModelFacts | undefined;
  names: ToolNames;
}

/** Encodes a block of user content; no parts if it is empty. @param path of the block, for losses and errors */
export function encodePart(block: Block, path: string, context: PartContext): JsonObject[] {
  switch (block.type) {
    case "text":
      if (isBlank(block.text) || (block.onlyFor ?? context.format) !== context.format) return [];
      return [textPart(block.text, markOf(block.cache, context))];
    case "image":
      return [encodeImage(block, path, context)];
    case "document":
      return encodeDocument(block, path, context);
    case "audio":
      return [{ type: "input_audio", input_audio: { data: block.data, format: block.format } }];
    case "refusal":
      return isBlank(block.text) ? [] : [textPart(block.text)];
    case "foreign":
      return encodeForeign(block, path, context);
    default:
      return [];
  }
}

export function isBlank(text: string): boolean {
  return !/\S/.test(text);
}

export function textPart(text: string, mark: JsonObject = {}): JsonObject {
  return { type: "text", text, ...mark };
}

/** Encodes a cache mark; the lifetime closest to an hour is 30 minutes. */
function markOf(cache: CacheMark | undefined, { facts }: PartContext): JsonObject {
  if (!cache || !facts?.cacheBreakpoints) return {};
  return { prompt_cache_breakpoint: { mode: "explicit", ...(cache.ttl === "1h" && { ttl: "30m" }) } };
}

function encodeImage(block: ImageBlock, path: string, context: PartContext): JsonObject {
  if (context.traits.images === false) {
    context.reportLoss("dropped", path, "the provider does not accept images");
    return textPart("[image omitted]");
  }
  const { source, detail, cache } = block;
  if (source.type === "file") throw unknownFileId(path);
  const url = source.type === "url" ? source.url : writeDataUri(source);
  return {
    type: "image_url",
    image_url: { url, ...(detail !== undefined && { detail }) },
    ...markOf(cache, context),
  };
}

/** A file id is valid only at the vendor that issued it. */
function unknownFileId(path: string) {
  return invalidRequest(
    `${path}: this provider cannot read a file id of another vendor; send the content of the file.`,
    path,
    "unsupported_value",
  );
}

function encodeDocument(block: DocumentBlock, path: string, context: PartContext): JsonObject[] {
  const { source } = block;
  if (block.citations)
    context.reportLoss("dropped", `${path}.citations`, "the answer will have no citations");
  switch (source.type) {
    case "text":
      return isBlank(source.text) ? [] : [textPart(withTitle(block, source.text))];
    case "blocks":
      return [
        ...headings(block),
        ...source.blocks.flatMap((inner) => encodePart(inner, blockPath(inner, path), context)),
      ];
    case "file":
      // A client of this format may have uploaded the file to this provider.
      if (!context.sameFormat) throw unknownFileId(path);
      return [{ type: "file", file: { file_id: source.id } }];
    case "url":
      return [...contextOf(block), encodeDocumentUrl(block, source.url, path, context)];
    case "base64":
      return encodeFile(block, source, path, context);
  }
}

function headings(block: DocumentBlock): JsonObject[] {
  const heading = headingOf(block);
  return heading === "" ? [] : [textPart(heading)];
}

/** The context of a document whose title becomes the name of its file. */
function contextOf({ context }: DocumentBlock): JsonObject[] {
  return context === undefined || isBlank(context) ? [] : [textPart(context)];
}

/** Encodes a document URL as the provider expects it; a client of this format is trusted to know what it accepts. */
function encodeDocumentUrl(
  { title }: DocumentBlock,
  url: string,
  path: string,
  { sameFormat, traits }: PartContext,
): JsonObject {
  switch (traits.documentUrl ?? (sameFormat ? "file_data" : undefined)) {
    case "document_url":
      return {
        type: "document_url",
        document_url: url,
        ...(title !== undefined && { document_name: title }),
      };
    case "file_data":
      return { type: "file", file: { ...(title !== undefined && { filename: title }), file_data: url } };
    case undefined:
      throw invalidRequest(
        `${path}: this provider does not accept documents by URL; send the content of the document.`,
        path,
        "unsupported_value",
      );
  }
}

function encodeFile(
  block: DocumentBlock,
  source: { mediaType: string; data: string },
  path: string,
  { traits }: PartContext,
): JsonObject[] {
  const text = isTextMediaType(source.mediaType) ? decodeBase64Text(source.data) : undefined;
  if (text !== undefined) return [textPart(withTitle(block, text))];
  if (traits.files !== true)
    throw invalidRequest(
      `${path}: the provider does not accept files of type ${source.mediaType}; send the text of the file or choose another model.`,
      path,
      "unsupported_value",
    );
  const filename = block.title ?? (source.mediaType === "application/pdf" ? "document.pdf" : "document");
  return [...contextOf(block), { type: "file", file: { filename, file_data: writeDataUri(source) } }];
}

/**
 * Encodes a block that only one format knows: unchanged for its own format, else as its equivalent block or its text.
 * @throws GatewayError for a block that has neither
 */
function encodeForeign(block: ForeignBlock, path: string, context: PartContext): JsonObject[] {
  if (block.format === context.format && isPart(block.value)) return [block.value];
  if (block.instead) return encodePart(block.instead, path, context);
  if (block.text === undefined) throw unsupportedContent(block, path, context.model);
  if (isBlank(block.text)) {
    context.reportLoss("dropped", path, "the block has no text in this format");
    return [];
  }
  context.reportLoss("converted", path, "sent as text");
  return [textPart(block.text)];
}

function isPart(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
