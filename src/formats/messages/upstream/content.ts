/** Encodes canonical blocks as content blocks. */
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
import { unsupportedContent } from "../../shared/content.ts";
import { NATIVE_ORIGIN } from "../reasoning.ts";
import { FORMAT } from "../own-fields.ts";
import type { EncodeContext as BaseContext } from "../../shared/encode-context.ts";

/** Context of encoding a request. */
export interface EncodeContext extends BaseContext {
  facts: ModelFacts;
  /** The answer must follow a schema; Anthropic refuses citations with that. */
  bound: boolean;
}

/** Encodes text as a block; no block for blank text, which Anthropic refuses. */
export function textBlock(text: string): JsonObject[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

/**
 * Encodes a block that is neither a call nor a result.
 * @throws GatewayError `invalid-request` for content that weir can neither translate nor drop
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
      return (block.onlyFor ?? FORMAT) === FORMAT ? textBlock(block.text) : [];
    case "refusal":
      return textBlock(block.text);
    case "image":
      return encodeImage(block, path, context);
    case "document":
      return encodeDocument(block, path, context);
    case "reasoning":
      return encodeReasoning(block, path, context);
    case "audio":
      throw refused(path, "does not accept audio input", context);
    case "foreign":
      return encodeForeign(block, path, context);
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
  if (block.format === FORMAT) return [{ ...(block.value as JsonObject) }];
  if (block.instead) return encodeContent(block.instead, path, context);
  if (block.text === undefined) throw unsupportedContent(block, path, context.model);
  context.reportLoss("converted", path, "sent as text");
  return textBlock(block.text);
}

function refused(path: string, what: string, { model }: EncodeContext) {
  return invalidRequest(`${path}: the model ${model} ${what}.`, path, "unsupported_value");
}

const IMAGE_TYPES = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);

function encodeImage(block: ImageBlock, path: string, context: EncodeContext): JsonObject[] {
  if (context.traits.images === false) {
    context.reportLoss("dropped", path, "the provider does not accept images");
    return [{ type: "text", text: "[image omitted]" }];
  }
  if (block.source.type !== "base64")
    return [{ type: "image", source: encodeReference(block.source, path, context) }];
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

/** Encodes a URL that the provider can fetch, or an id of a file at the provider. */
function encodeReference(
  source: Exclude<Source, { type: "base64" }>,
  path: string,
  context: EncodeContext,
): JsonObject {
  if (source.type === "file") {
    if (context.sameFormat) return { type: "file", file_id: source.id };
    throw refused(path, "cannot read a file_id of another vendor", context);
  }
  if (!isPublicHttps(source.url))
    throw invalidRequest(
      `${path}: the provider fetches only public https URLs; send the content as a data URI.`,
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
  if (block.citations && context.bound) context.reportLoss("dropped", `${path}.citations`);
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

/** Returns nothing for a blank text document. */
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
      return encodeReference(source, path, context);
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

/** Returns the origin of a model's reasoning. @param provider its name */
export function reasoningOrigin(provider: string, facts: ModelFacts): string {
  return facts.claude ? NATIVE_ORIGIN : provider;
}

/**
 * Sends signed reasoning back unchanged, only to the provider that signed it. Unsigned reasoning goes only to providers
 * whose traits ask for it.
 */
function encodeReasoning(block: ReasoningBlock, path: string, context: EncodeContext): JsonObject[] {
  const { facts, provider, traits } = context;
  const own = block.origin === reasoningOrigin(provider, facts);
  if (own && block.redacted !== undefined) return [{ type: "redacted_thinking", data: block.redacted }];
  if (own && block.signature) return [{ type: "thinking", thinking: block.text, signature: block.signature }];
  const replay = traits.reasoningReplay ?? "forbidden";
  if (!facts.claude && replay !== "forbidden" && block.text && !block.signature)
    return [{ type: "thinking", thinking: block.text, signature: "" }];
  if (block.text || block.signature || block.redacted)
    context.reportLoss("dropped", path, "another model signed this reasoning");
  return [];
}
