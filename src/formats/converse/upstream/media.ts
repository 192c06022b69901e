/** Encodes images and documents: bytes, or a place in S3. */
import type { DocumentBlock, ImageBlock, Source } from "../../../core/chat.ts";
import { invalidRequest } from "../../../core/error.ts";
import type { JsonObject } from "../../../core/json.ts";
import { decodeBase64Text, identifyMedia, isTextMediaType } from "../../../core/media.ts";
import type { EncodeContext } from "./context.ts";

/** Encodes text as a block; no block for blank text, which the provider refuses. */
export function textBlock(text: string): JsonObject[] {
  return /\S/.test(text) ? [{ text }] : [];
}

/** Values of `image.format`. */
const IMAGE_FORMATS: ReadonlyMap<string, string> = new Map([
  ["image/jpeg", "jpeg"],
  ["image/png", "png"],
  ["image/gif", "gif"],
  ["image/webp", "webp"],
]);

/** The format of a file in S3, by the end of its name. */
const IMAGE_ENDINGS: ReadonlyMap<string, string> = new Map([
  ["jpg", "jpeg"],
  ["jpeg", "jpeg"],
  ["png", "png"],
  ["gif", "gif"],
  ["webp", "webp"],
]);

/** @throws GatewayError for an image that the provider cannot read */
export function encodeImage({ source }: ImageBlock, path: string, context: EncodeContext): JsonObject[] {
  if (context.traits.images === false) {
    context.reportLoss("dropped", path, "the provider does not accept images");
    return [{ text: "[image omitted]" }];
  }
  if (source.type !== "base64") {
    const location = s3Location(source, path, context);
    const format = IMAGE_ENDINGS.get(endingOf(location.uri)) ?? "png";
    return [{ image: { format, source: { s3Location: location } } }];
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

/** Encodes the source of a document. @throws GatewayError for a type that the provider does not read */
export function encodeFile(
  block: DocumentBlock,
  source: Exclude<DocumentBlock["source"], { type: "blocks" }>,
  path: string,
  context: EncodeContext,
): JsonObject[] {
  switch (source.type) {
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

export function reportCitations(
  { citations }: DocumentBlock,
  path: string,
  { reportLoss }: EncodeContext,
): void {
  if (citations) reportLoss("dropped", `${path}.citations`, "the answer will have no citations");
}

/** The error for content that no model of the provider takes in this form. */
export function refused(path: string, what: string, { model }: EncodeContext) {
  return invalidRequest(`${path}: the model ${model} ${what}.`, path, "unsupported_value");
}
