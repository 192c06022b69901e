/** Encodes canonical blocks as content blocks of a user or of an assistant. */
import type {
  Block,
  DocumentBlock,
  ForeignBlock,
  ImageBlock,
  ReasoningBlock,
  Source,
} from "../../../core/chat.ts";
import { invalidRequest } from "../../../core/error.ts";
import type { ToolNames } from "../../../core/ids.ts";
import type { JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { decodeBase64Text, identifyMedia, isTextMediaType } from "../../../core/media.ts";
import type { EncodeContext as BaseContext } from "../../shared/encode-context.ts";
import { blockPath } from "../../shared/paths.ts";
import { unsupportedContent } from "../../shared/unsupported-content.ts";
import type { ModelFacts } from "../models.ts";
import { FORMAT } from "../own-fields.ts";
import { encodeRedacted, reasoningOrigin } from "../reasoning.ts";
import type { DocumentNames } from "./document-names.ts";

/** What encoding a request depends on besides the request. */
export interface EncodeContext extends BaseContext {
  facts: ModelFacts;
  names: ToolNames;
  documents: DocumentNames;
}

/** Encodes text as a block; no block for blank text, which the provider refuses. */
export function textBlock(text: string): JsonObject[] {
  return /\S/.test(text) ? [{ text }] : [];
}

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
  if (block.format === FORMAT && isObject(block.value)) return [block.value];
  if (block.instead) return encodeBlock(block.instead, path, context);
  if (block.text === undefined) throw unsupportedContent(block, path, context.model);
  context.reportLoss("converted", path, "sent as text");
  return textBlock(block.text);
}

function refused(path: string, what: string, { model }: EncodeContext) {
  return invalidRequest(`${path}: the model ${model} ${what}.`, path, "unsupported_value");
}

/** Values of `image.format`. */
const IMAGE_FORMATS: ReadonlyMap<string, string> = new Map([
  ["image/jpeg", "jpeg"],
  ["image/png", "png"],
  ["image/gif", "gif"],
  ["image/webp", "webp"],
]);

/** The format of a file in S3, by the end of its name. */
const IMAGE_ENDINGS: Readonly<Record<string, string>> = {
  jpg: "jpeg",
  jpeg: "jpeg",
  png: "png",
  gif: "gif",
  webp: "webp",
};

function encodeImage({ source }: ImageBlock, path: string, context: EncodeContext): JsonObject[] {
  if (context.traits.images === false) {
    context.reportLoss("dropped", path, "the provider does not accept images");
    return [{ text: "[image omitted]" }];
  }
  if (source.type !== "base64") {
    const location = s3Location(source, path, context);
    return [
      { image: { format: IMAGE_ENDINGS[endingOf(location.uri)] ?? "png", source: { s3Location: location } } },
    ];
  }
  const { mediaType, data } = identifyMedia(source.mediaType, source.data);
  const format = IMAGE_FORMATS.get(mediaType);
  if (format === undefined)
    throw invalidRequest(
      `${path}: unsupported image type ${mediaType || "(none)"}; use JPEG, PNG, GIF or WebP.`,
      path,
      "unsupported_value",
    );
  return [{ image: { format, source: { bytes: data } } }];
}

/** The provider reads files from S3, and fetches nothing else. */
function s3Location(
  source: Exclude<Source, { type: "base64" }>,
  path: string,
  context: EncodeContext,
): { uri: string } {
  if (source.type === "file") throw refused(path, "cannot read a file id of another vendor", context);
  if (source.url.startsWith("s3://")) return { uri: source.url };
  throw invalidRequest(
    `${path}: this provider fetches no URLs; send the content itself (base64 or a data URI).`,
    path,
    "unsupported_value",
  );
}

function endingOf(uri: string): string {
  return uri.slice(uri.lastIndexOf(".") + 1).toLowerCase();
}

/** Values of `document.format`. */
const DOCUMENT_FORMATS: ReadonlyMap<string, string> = new Map([
  ["application/pdf", "pdf"],
  ["application/msword", "doc"],
  ["application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"],
  ["application/vnd.ms-excel", "xls"],
  ["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"],
  ["text/csv", "csv"],
  ["text/html", "html"],
  ["text/markdown", "md"],
]);

const DOCUMENT_ENDINGS = new Set([...DOCUMENT_FORMATS.values(), "txt"]);

/** Title and context go before the document as text: its name must say nothing, because the model may obey it. */
function encodeDocument(block: DocumentBlock, path: string, context: EncodeContext): JsonObject[] {
  const heading = [block.title, block.context].filter((part) => part !== undefined && part !== "").join("\n");
  return [...textBlock(heading), ...encodeSource(block, path, context)];
}

function encodeSource(block: DocumentBlock, path: string, context: EncodeContext): JsonObject[] {
  const { source } = block;
  switch (source.type) {
    case "blocks":
      reportCitations(block, path, context);
      return source.blocks.flatMap((inner) => encodeBlock(inner, blockPath(inner, path), context));
    case "text":
      return encodeText(block, source.text, source.mediaType, path, context);
    case "base64": {
      const { mediaType, data } = identifyMedia(source.mediaType, source.data);
      const format = DOCUMENT_FORMATS.get(mediaType);
      const text = isTextMediaType(mediaType) ? decodeBase64Text(data) : undefined;
      if (text !== undefined) return encodeText(block, text, mediaType, path, context);
      if (format === undefined)
        throw invalidRequest(
          `${path}: unsupported file type ${mediaType || "(none)"}; use PDF, Word, Excel or a text format.`,
          path,
          "unsupported_value",
        );
      return [documentOf(block, format, { bytes: data }, path, context)];
    }
    default: {
      const location = s3Location(source, path, context);
      const ending = endingOf(location.uri);
      const format = DOCUMENT_ENDINGS.has(ending) ? ending : "pdf";
      return [documentOf(block, format, { s3Location: location }, path, context)];
    }
  }
}

/** Models for which no text documents are known get the text itself. */
function encodeText(
  block: DocumentBlock,
  text: string,
  mediaType: string,
  path: string,
  context: EncodeContext,
): JsonObject[] {
  if (textBlock(text).length === 0) return [];
  if (!context.facts.textDocuments) {
    reportCitations(block, path, context);
    return textBlock(text);
  }
  const source = context.facts.claude ? { text } : { bytes: Buffer.from(text).toString("base64") };
  return [documentOf(block, DOCUMENT_FORMATS.get(mediaType) ?? "txt", source, path, context)];
}

function documentOf(
  block: DocumentBlock,
  format: string,
  source: JsonObject,
  path: string,
  context: EncodeContext,
): JsonObject {
  const cites = block.citations === true && context.facts.claude !== undefined;
  if (!cites) reportCitations(block, path, context);
  return {
    document: {
      format,
      name: context.documents.next(),
      source,
      ...(cites && { citations: { enabled: true } }),
    },
  };
}

function reportCitations({ citations }: DocumentBlock, path: string, { reportLoss }: EncodeContext): void {
  if (citations) reportLoss("dropped", `${path}.citations`, "the answer will have no citations");
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
