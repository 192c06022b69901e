/** Decodes the content of a message into canonical blocks. */
import type { Block, CacheMark, DocumentBlock, ForeignBlock, Source } from "../../../core/chat.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import {
  decodeBase64Text,
  identifyMedia,
  isTextMediaType,
  type Media,
  normalizeMediaType,
  parseDataUri,
} from "../../../core/media.ts";
import { getOwn } from "../../../core/own.ts";
import { text } from "../../shared/read.ts";
import { fault, missing } from "./fault.ts";
import { FORMAT } from "../own-fields.ts";

/** Decodes the content of any role. @param path as error messages write it (`messages[0].content`) */
export function decodeContent(content: Json | undefined, path: string): Block[] {
  if (content == null || content === "") return [];
  if (typeof content === "string") return [{ type: "text", text: content, path }];
  if (!Array.isArray(content)) throw fault(path, "a string or a list");
  return content.map((part, index) => decodePart(part, `${path}[${index}]`));
}

/** Returns the block without its path. */
type Decoder = (part: JsonObject, path: string) => Block;

const DECODERS: Record<string, Decoder> = {
  text: decodeText,
  image_url: decodeImage,
  input_audio: decodeAudio,
  file: decodeFile,
  // Parts of Mistral and of Zhipu.
  document_url: (part) => decodeDocumentUrl(part, "document_url", "document_name"),
  file_url: (part) => decodeDocumentUrl(part, "file_url", "file_name"),
  refusal: (part, path) => ({ type: "refusal", text: requiredText(part, "refusal", path) }),
};

function decodePart(value: Json, path: string): Block {
  if (!isObject(value)) throw fault(path, "an object");
  const decode = getOwn(DECODERS, String(value.type));
  const block: Block = decode ? decode(value, path) : { type: "foreign", format: FORMAT, value };
  block.path = path;
  return block;
}

/**
 * Decodes a cache mark: OpenAI's `prompt_cache_breakpoint` (30 minutes or 12 hours), or `cache_control`, which OpenRouter
 * and LiteLLM accept on parts.
 */
export function decodeCache(part: JsonObject): { cache?: CacheMark } {
  if (isObject(part.cache_control)) {
    const { ttl } = part.cache_control;
    return { cache: ttl === "5m" || ttl === "1h" ? { ttl } : {} };
  }
  if (!isObject(part.prompt_cache_breakpoint)) return {};
  return { cache: typeof part.prompt_cache_breakpoint.ttl === "string" ? { ttl: "1h" } : {} };
}

function decodeText(part: JsonObject, path: string): Block {
  return { type: "text", text: requiredText(part, "text", path), ...decodeCache(part) };
}

function decodeImage(part: JsonObject, path: string): Block {
  const image = part.image_url;
  // Mistral allows the URL itself in `image_url`.
  const url = isObject(image)
    ? requiredText(image, "url", `${path}.image_url`)
    : requiredText(part, "image_url", path);
  const detail = isObject(image) && typeof image.detail === "string" ? { detail: image.detail } : {};
  return { type: "image", source: sourceOf(url), ...detail, ...decodeCache(part) };
}

function sourceOf(url: string): Source {
  const media = parseDataUri(url);
  return media ? { type: "base64", ...media } : { type: "url", url };
}

function decodeAudio(part: JsonObject, path: string): Block {
  // Mistral allows the data itself in `input_audio` and detects its format.
  if (typeof part.input_audio === "string") return { type: "audio", data: part.input_audio, format: "wav" };
  if (!isObject(part.input_audio)) throw missing(`${path}.input_audio`);
  const data = requiredText(part.input_audio, "data", `${path}.input_audio`);
  const { format } = part.input_audio;
  return { type: "audio", data, format: typeof format === "string" ? format : "wav" };
}

function decodeFile(part: JsonObject, path: string): Block {
  const { file } = part;
  if (!isObject(file)) throw missing(`${path}.file`);
  const title = typeof file.filename === "string" ? { title: file.filename } : {};
  if (typeof file.file_data === "string")
    return {
      type: "document",
      source: documentSource(file.file_data, title.title),
      ...title,
      ...decodeCache(part),
    };
  if (typeof file.file_id === "string") {
    // LiteLLM allows a URL in `file_id`.
    const source: Source = isUrl(file.file_id)
      ? { type: "url", url: file.file_id }
      : { type: "file", id: file.file_id };
    return { type: "document", source, ...title, ...decodeCache(part) };
  }
  throw missing(`${path}.file.file_data`);
}

/** Decodes a vendor's own part: chat-completions providers get it unchanged, others get it as a document. */
function decodeDocumentUrl(part: JsonObject, field: string, nameField: string): Block {
  const value = part[field];
  const url = isObject(value) ? value.url : value;
  const block: ForeignBlock = { type: "foreign", format: FORMAT, value: part };
  if (typeof url !== "string") return block;
  const title = text(part[nameField]);
  const source = documentSource(url, title);
  return { ...block, instead: { type: "document", source, ...(title !== undefined && { title }) } };
}

function isUrl(text: string): boolean {
  return /^https?:\/\//i.test(text);
}

/** File data is a data URI, bare base64, or a URL (OpenRouter). Text files become text. */
function documentSource(data: string, filename: string | undefined): DocumentBlock["source"] {
  if (isUrl(data)) return { type: "url", url: data };
  const media = parseDataUri(data) ?? identifyMedia(typeOfName(filename), data);
  const text = isTextMediaType(media.mediaType) ? decodeBase64Text(media.data) : undefined;
  return text === undefined ? base64Source(media) : { type: "text", mediaType: media.mediaType, text };
}

function base64Source(media: Media): Source {
  return { type: "base64", mediaType: media.mediaType || "application/octet-stream", data: media.data };
}

const TYPE_BY_EXTENSION: Record<string, string> = {
  pdf: "application/pdf",
  txt: "text/plain",
  md: "text/markdown",
  csv: "text/csv",
  json: "application/json",
  html: "text/html",
  xml: "text/xml",
};

function typeOfName(filename: string | undefined): string {
  const extension = /\.([a-z0-9]+)$/i.exec(filename ?? "")?.[1]?.toLowerCase() ?? "";
  return normalizeMediaType(getOwn(TYPE_BY_EXTENSION, extension) ?? "");
}

function requiredText(value: JsonObject, field: string, path: string): string {
  const text = value[field];
  if (text == null) throw missing(`${path}.${field}`);
  if (typeof text === "string") return text;
  throw fault(`${path}.${field}`, "a string");
}
