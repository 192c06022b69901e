/** Canonical blocks → content of chat-completions messages. */
import type { Call } from "../../../core/call.ts";
import type { Block, CacheMark, DocumentBlock, ForeignBlock, ImageBlock } from "../../../core/chat.ts";
import { invalidRequest } from "../../../core/error.ts";
import type { ToolNames } from "../../../core/ids.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { decodeBase64Text, isTextMediaType, writeDataUri } from "../../../core/media.ts";
import type { Traits } from "../../../core/provider.ts";
import { unsupportedContent } from "../../shared/unsupported-content.ts";
import type { ModelFacts } from "../models.ts";

export const FORMAT = "chat-completions";

/** What encoding a request depends on besides the request. */
export interface EncodeContext {
  call: Call;
  /** Name of the provider that gets the request. */
  provider: string;
  traits: Traits;
  facts: ModelFacts | undefined;
  names: ToolNames;
}

/** The parts of a block of user content; none when it says nothing. `path` is where it stood, for losses and errors. */
export function encodePart(block: Block, path: string, context: EncodeContext): JsonObject[] {
  switch (block.type) {
    case "text":
      return isBlank(block.text) ? [] : [textPart(block.text, markOf(block.cache, context))];
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

/** A cache mark as this format writes it; the nearest lifetime to an hour is half an hour. */
function markOf(cache: CacheMark | undefined, { facts }: EncodeContext): JsonObject {
  if (!cache || !facts?.cacheBreakpoints) return {};
  return { prompt_cache_breakpoint: { mode: "explicit", ...(cache.ttl === "1h" && { ttl: "30m" }) } };
}

function encodeImage(block: ImageBlock, path: string, context: EncodeContext): JsonObject {
  if (context.traits.images === false) {
    context.call.reportLoss("dropped", path, "the provider takes no images");
    return textPart("[image omitted]");
  }
  const { source, detail, cache } = block;
  if (source.type === "file") throw fileId(path);
  const url = source.type === "url" ? source.url : writeDataUri(source);
  return {
    type: "image_url",
    image_url: { url, ...(detail !== undefined && { detail }) },
    ...markOf(cache, context),
  };
}

/** Ids of files live at the vendor that gave them. */
function fileId(path: string) {
  return invalidRequest(
    `${path}: a file id of another vendor cannot be read by this provider; send the file's content.`,
    path,
    "unsupported_value",
  );
}

function encodeDocument(block: DocumentBlock, path: string, context: EncodeContext): JsonObject[] {
  const { source } = block;
  if (block.citations)
    context.call.reportLoss("dropped", `${path}.citations`, "answers will have no citations");
  switch (source.type) {
    case "text":
      return isBlank(source.text) ? [] : [textPart(titled(block, source.text))];
    case "blocks":
      return [
        ...(block.title === undefined ? [] : [textPart(titled(block, ""))]),
        ...source.blocks.flatMap((inner, index) =>
          encodePart(inner, `${path}.source.content[${index}]`, context),
        ),
      ];
    case "file":
      // A client of this format may have the file at this very provider.
      if (context.call.format !== FORMAT) throw fileId(path);
      return [{ type: "file", file: { file_id: source.id } }];
    case "url":
      return [encodeAddressed(block, source.url, path, context)];
    case "base64":
      return [encodeFile(block, source, path, context)];
  }
}

/** An address in the form the provider has for it; a client of this format knows what its provider takes. */
function encodeAddressed(
  { title }: DocumentBlock,
  url: string,
  path: string,
  { call, traits }: EncodeContext,
): JsonObject {
  switch (traits.documentUrl ?? (call.format === FORMAT ? "file_data" : undefined)) {
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
        `${path}: this provider reads no documents by address; send the document's content.`,
        path,
        "unsupported_value",
      );
  }
}

/** A text in front of which stands what the document is called and where it comes from. */
function titled({ title, context }: DocumentBlock, text: string): string {
  return [title, context, text].filter((part) => part !== undefined && part !== "").join("\n");
}

function encodeFile(
  block: DocumentBlock,
  source: { mediaType: string; data: string },
  path: string,
  { traits }: EncodeContext,
): JsonObject {
  const text = isTextMediaType(source.mediaType) ? decodeBase64Text(source.data) : undefined;
  if (text !== undefined) return textPart(titled(block, text));
  if (traits.files !== true)
    throw invalidRequest(
      `${path}: the provider takes no files of type ${source.mediaType}; send their text, or choose another model.`,
      path,
      "unsupported_value",
    );
  const filename = block.title ?? (source.mediaType === "application/pdf" ? "document.pdf" : "document");
  return { type: "file", file: { filename, file_data: writeDataUri(source) } };
}

/**
 * Its own blocks as they are; others as the block they stand for, or in their plain-text reading.
 * @throws GatewayError for a block the model would not see
 */
function encodeForeign(block: ForeignBlock, path: string, context: EncodeContext): JsonObject[] {
  const { call } = context;
  if (block.format === FORMAT && isPart(block.value)) return [block.value];
  if (block.instead) return encodePart(block.instead, path, context);
  if (block.text === undefined) throw unsupportedContent(block, path, call.model);
  if (isBlank(block.text)) {
    call.reportLoss("dropped", path, "blank in the words of this format");
    return [];
  }
  call.reportLoss("converted", path, "written as text");
  return [textPart(block.text)];
}

function isPart(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Content as text when it is nothing but text without marks, else as a list; `undefined` when it is empty. */
export function contentOf(parts: readonly JsonObject[], separator = "\n\n"): Json | undefined {
  if (parts.length === 0) return undefined;
  const plain = parts.every((part) => part.type === "text" && part.prompt_cache_breakpoint === undefined);
  return plain ? parts.map((part) => part.text).join(separator) : [...parts];
}
