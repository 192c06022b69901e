/** Decodes content blocks into canonical blocks. */
import type {
  Block,
  CacheMark,
  DocumentBlock,
  ReasoningBlock,
  Source,
  TextBlock,
  ToolResultBlock,
} from "../../../core/chat.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { identifyMedia, normalizeMediaType } from "../../../core/media.ts";
import { decodeSignature, decodeRedactedData } from "../reasoning.ts";
import { fault, missing } from "./check.ts";
import { readForeignBlock } from "./foreign-text.ts";
import { FORMAT } from "../own-fields.ts";

/** Reports a field that weir drops. @param path its JSON path in the request */
export type ReportLoss = (path: string) => void;

/** Decodes the content of a message. @param path `messages[0].content` */
export function decodeContent(content: Json | undefined, path: string, reportLoss: ReportLoss): Block[] {
  if (content == null) return [];
  if (typeof content === "string") return [{ type: "text", text: content, path }];
  if (!Array.isArray(content)) throw fault(path, "Input should be a string or a list of blocks");
  return content.map((block, index) => decodeBlock(block, `${path}[${index}]`, reportLoss));
}

/** Decodes `cache_control`; members besides the lifetime matter only to Anthropic. */
export function decodeCache(value: Json | undefined): { cache?: CacheMark } {
  if (!isObject(value)) return {};
  return { cache: value.ttl === "5m" || value.ttl === "1h" ? { ttl: value.ttl } : {} };
}

/** Returns the block without its path. */
type Decoder = (block: JsonObject, path: string, reportLoss: ReportLoss) => Block;

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

export function decodeBlock(value: Json, path: string, reportLoss: ReportLoss): Block {
  if (!isObject(value)) throw fault(path, "Input should be an object");
  const decode = DECODERS.get(String(value.type));
  const block = decode ? decode(value, path, reportLoss) : foreign(value);
  block.path = path;
  return block;
}

function foreign(value: JsonObject): Block {
  const text = readForeignBlock(value);
  return { type: "foreign", format: FORMAT, value, ...(text !== undefined && { text }) };
}

function requiredText(block: JsonObject, field: string, path: string): string {
  const value = block[field];
  if (value == null) throw missing(`${path}.${field}`);
  if (typeof value === "string") return value;
  throw fault(`${path}.${field}`, "Input should be a valid string");
}

function decodeText(block: JsonObject, path: string, reportLoss: ReportLoss): TextBlock {
  if (Array.isArray(block.citations) && block.citations.length > 0) reportLoss(`${path}.citations`);
  return { type: "text", text: requiredText(block, "text", path), ...decodeCache(block.cache_control) };
}

/** Decodes the sources that images and documents share; `undefined` for other types. */
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
  if (!isObject(block.source)) throw missing(`${path}.source`);
  const source = decodeSource(block.source, `${path}.source`);
  return source ? { type: "image", source, ...decodeCache(block.cache_control) } : foreign(block);
}

function decodeDocument(block: JsonObject, path: string, reportLoss: ReportLoss): Block {
  if (!isObject(block.source)) throw missing(`${path}.source`);
  const source = decodeDocumentSource(block.source, `${path}.source`, reportLoss);
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
  reportLoss: ReportLoss,
): DocumentBlock["source"] | undefined {
  if (source.type === "text") {
    const declared =
      typeof source.media_type === "string" ? normalizeMediaType(source.media_type) : "text/plain";
    return { type: "text", mediaType: declared, text: requiredText(source, "data", path) };
  }
  if (source.type === "content")
    return { type: "blocks", blocks: decodeContent(source.content, `${path}.content`, reportLoss) };
  return decodeSource(source, path);
}

function decodeThinking(block: JsonObject, path: string): ReasoningBlock {
  const text = typeof block.thinking === "string" ? block.thinking : "";
  if (block.signature == null || block.signature === "") return { type: "reasoning", text };
  return decodeSignature(text, requiredText(block, "signature", path));
}

function decodeRedacted(block: JsonObject, path: string): ReasoningBlock {
  return decodeRedactedData(requiredText(block, "data", path));
}

function decodeToolUse(block: JsonObject, path: string, reportLoss: ReportLoss): Block {
  if (block.toolset_name != null) reportLoss(`${path}.toolset_name`);
  if (isObject(block.caller) && block.caller.type !== "direct") reportLoss(`${path}.caller`);
  return {
    type: "tool-call",
    id: requiredText(block, "id", path),
    name: requiredText(block, "name", path),
    input: JSON.stringify(block.input ?? {}),
    inputPath: `${path}.input`,
    kind: "function",
    ...decodeCache(block.cache_control),
  };
}

function decodeToolResult(block: JsonObject, path: string, reportLoss: ReportLoss): ToolResultBlock {
  if (block.toolset_name != null) reportLoss(`${path}.toolset_name`);
  return {
    type: "tool-result",
    id: requiredText(block, "tool_use_id", path),
    blocks: decodeContent(block.content, `${path}.content`, reportLoss),
    ...(block.is_error === true && { error: true }),
    ...decodeCache(block.cache_control),
  };
}
