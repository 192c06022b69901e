/** Content blocks of a Messages request → canonical blocks. */
import type {
  Block,
  CacheMark,
  DocumentBlock,
  ReasoningBlock,
  Source,
  TextBlock,
  ToolResultBlock,
} from "../../../core/chat.ts";
import type { GatewayError } from "../../../core/error.ts";
import { invalidRequest } from "../../../core/error.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { identifyMedia, normalizeMediaType } from "../../../core/media.ts";
import { openReasoning, openRedacted } from "../reasoning.ts";
import { readForeignBlock } from "./foreign-text.ts";

export const FORMAT = "messages";

/** Tells of something that is not carried over; `path` is a JSON path in the request. */
export type Lose = (path: string) => void;

/** Content of a message: a string is one text block. `path` as errors spell it (`messages.0.content`). */
export function decodeContent(content: Json | undefined, path: string, lose: Lose): Block[] {
  if (content == null) return [];
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (!Array.isArray(content))
    throw invalidRequest(`${path}: Input should be a string or a list of blocks`, path);
  return content.map((block, index) => decodeBlock(block, `${path}.${index}`, lose));
}

/** `cache_control` as a mark; members besides the lifetime are for the vendor's own platform only. */
export function decodeCache(value: Json | undefined): { cache?: CacheMark } {
  if (!isObject(value)) return {};
  return { cache: value.ttl === "5m" || value.ttl === "1h" ? { ttl: value.ttl } : {} };
}

type Decoder = (block: JsonObject, path: string, lose: Lose) => Block;

const DECODERS: ReadonlyMap<string, Decoder> = new Map(
  Object.entries<Decoder>({
    text: decodeText,
    image: decodeImage,
    document: decodeDocument,
    thinking: decodeThinking,
    redacted_thinking: decodeRedacted,
    tool_use: decodeToolUse,
    tool_result: decodeToolResult,
  }),
);

function decodeBlock(value: Json, path: string, lose: Lose): Block {
  if (!isObject(value)) throw invalidRequest(`${path}: Input should be an object`, path);
  const decode = DECODERS.get(String(value.type));
  return decode ? decode(value, path, lose) : foreign(value);
}

function foreign(value: JsonObject): Block {
  const text = readForeignBlock(value);
  return { type: "foreign", format: FORMAT, value, ...(text !== undefined && { text }) };
}

function required(path: string, field: string): GatewayError {
  return invalidRequest(`${path}.${field}: Field required`, `${path}.${field}`);
}

function requiredText(block: JsonObject, field: string, path: string): string {
  const value = block[field];
  if (value == null) throw required(path, field);
  if (typeof value === "string") return value;
  throw invalidRequest(`${path}.${field}: Input should be a valid string`, `${path}.${field}`);
}

function decodeText(block: JsonObject, path: string, lose: Lose): TextBlock {
  if (Array.isArray(block.citations) && block.citations.length > 0) lose(`${path}.citations`);
  return { type: "text", text: requiredText(block, "text", path), ...decodeCache(block.cache_control) };
}

/** The three kinds of source images and documents share; nothing for those only one of them has. */
function decodeSource(source: JsonObject, path: string): Source | undefined {
  switch (source.type) {
    case "base64":
      return {
        type: "base64",
        ...identifyMedia(requiredText(source, "media_type", path), requiredText(source, "data", path)),
      };
    case "url":
      return { type: "url", url: requiredText(source, "url", path) };
    case "file":
      return { type: "file", id: requiredText(source, "file_id", path) };
    default:
      return undefined;
  }
}

function decodeImage(block: JsonObject, path: string): Block {
  if (!isObject(block.source)) throw required(path, "source");
  const source = decodeSource(block.source, `${path}.source`);
  return source ? { type: "image", source, ...decodeCache(block.cache_control) } : foreign(block);
}

function decodeDocument(block: JsonObject, path: string, lose: Lose): Block {
  if (!isObject(block.source)) throw required(path, "source");
  const source = decodeDocumentSource(block.source, `${path}.source`, lose);
  if (!source) return foreign(block);
  return {
    type: "document",
    source,
    ...(typeof block.title === "string" && { title: block.title }),
    ...(typeof block.context === "string" && { context: block.context }),
    ...(isObject(block.citations) && block.citations.enabled === true && { citations: true }),
    ...decodeCache(block.cache_control),
  };
}

function decodeDocumentSource(
  source: JsonObject,
  path: string,
  lose: Lose,
): DocumentBlock["source"] | undefined {
  if (source.type === "text") {
    const declared =
      typeof source.media_type === "string" ? normalizeMediaType(source.media_type) : "text/plain";
    return { type: "text", mediaType: declared, text: requiredText(source, "data", path) };
  }
  if (source.type === "content")
    return { type: "blocks", blocks: decodeContent(source.content, `${path}.content`, lose) };
  return decodeSource(source, path);
}

function decodeThinking(block: JsonObject, path: string): ReasoningBlock {
  const text = typeof block.thinking === "string" ? block.thinking : "";
  if (block.signature == null || block.signature === "") return { type: "reasoning", text };
  return openReasoning(text, requiredText(block, "signature", path));
}

function decodeRedacted(block: JsonObject, path: string): ReasoningBlock {
  return openRedacted(requiredText(block, "data", path));
}

function decodeToolUse(block: JsonObject, path: string, lose: Lose): Block {
  if (block.toolset_name != null) lose(`${path}.toolset_name`);
  if (isObject(block.caller) && block.caller.type !== "direct") lose(`${path}.caller`);
  return {
    type: "tool-call",
    id: requiredText(block, "id", path),
    name: requiredText(block, "name", path),
    input: JSON.stringify(block.input ?? {}),
    kind: "function",
    ...decodeCache(block.cache_control),
  };
}

function decodeToolResult(block: JsonObject, path: string, lose: Lose): ToolResultBlock {
  if (block.toolset_name != null) lose(`${path}.toolset_name`);
  return {
    type: "tool-result",
    id: requiredText(block, "tool_use_id", path),
    blocks: decodeContent(block.content, `${path}.content`, lose),
    ...(block.is_error === true && { error: true }),
    ...decodeCache(block.cache_control),
  };
}
