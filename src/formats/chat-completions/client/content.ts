/** Content of a chat-completions message → canonical blocks. */
import type { Block, CacheMark, DocumentBlock, ForeignBlock, Source } from "../../../core/chat.ts";
import { invalidRequest } from "../../../core/error.ts";
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

export const FORMAT = "chat-completions";

/** Content of any role: text is one block, nothing is none. `path` as errors spell it (`messages[0].content`). */
export function decodeContent(content: Json | undefined, path: string): Block[] {
  if (content == null || content === "") return [];
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (!Array.isArray(content))
    throw invalidRequest(`Invalid '${path}': expected a string or a list.`, path, "invalid_value");
  return content.map((part, index) => decodePart(part, `${path}[${index}]`));
}

type Decoder = (part: JsonObject, path: string) => Block;

const DECODERS: Record<string, Decoder> = {
  text: decodeText,
  image_url: decodeImage,
  input_audio: decodeAudio,
  file: decodeFile,
  // Mistral's dialect, and Zhipu's.
  document_url: (part) => decodeAddressed(part, "document_url", "document_name"),
  file_url: (part) => decodeAddressed(part, "file_url", "file_name"),
  refusal: (part, path) => ({ type: "refusal", text: requiredText(part, "refusal", path) }),
};

function decodePart(value: Json, path: string): Block {
  if (!isObject(value)) throw invalidRequest(`Invalid '${path}': expected an object.`, path, "invalid_value");
  const decode = getOwn(DECODERS, String(value.type));
  return decode ? decode(value, path) : { type: "foreign", format: FORMAT, value };
}

/**
 * A mark of either spelling: OpenAI's `prompt_cache_breakpoint` (30 minutes or 12 hours) and the Messages format's
 * `cache_control`, which OpenRouter and LiteLLM take on parts.
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
  // Mistral's dialect has the address itself in `image_url`.
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
  // Mistral's dialect has the bytes themselves in `input_audio`, and recognises their format.
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
    // LiteLLM's dialect has an address there.
    const source: Source = isAddress(file.file_id)
      ? { type: "url", url: file.file_id }
      : { type: "file", id: file.file_id };
    return { type: "document", source, ...title, ...decodeCache(part) };
  }
  throw missing(`${path}.file.file_data`);
}

/** A part of one vendor's dialect: its own format gets it as it is, others as the document it stands for. */
function decodeAddressed(part: JsonObject, field: string, nameField: string): Block {
  const value = part[field];
  const address = isObject(value) ? value.url : value;
  const block: ForeignBlock = { type: "foreign", format: FORMAT, value: part };
  if (typeof address !== "string") return block;
  const title = text(part[nameField]);
  const source = documentSource(address, title);
  return { ...block, instead: { type: "document", source, ...(title !== undefined && { title }) } };
}

function isAddress(text: string): boolean {
  return /^https?:\/\//i.test(text);
}

/** File data is a data URI, base64 alone, or in OpenRouter's dialect an address; what is text is carried as text. */
function documentSource(data: string, filename: string | undefined): DocumentBlock["source"] {
  if (isAddress(data)) return { type: "url", url: data };
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
  throw invalidRequest(`Invalid '${path}.${field}': expected a string.`, `${path}.${field}`, "invalid_value");
}

function missing(path: string) {
  return invalidRequest(`Missing required parameter: '${path}'.`, path, "missing_required_parameter");
}
