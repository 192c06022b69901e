/** Decodes the content of a message into canonical blocks. */
import type { Block, ForeignBlock, ImageBlock, Source } from "../../../core/chat.ts";
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import { getOwn } from "../../../core/own.ts";
import { documentSource, imageSource, isUrl } from "../../shared/file-data.ts";
import { decodeCache } from "../../shared/prompt-cache.ts";
import { text } from "../../shared/read.ts";
import { fault, missing } from "../../shared/request-fault.ts";
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

function decodeText(part: JsonObject, path: string): Block {
  return { type: "text", text: requiredText(part, "text", path), ...decodeCache(part) };
}

/** Decodes a part with `image_url`, also one of the list `images` of an assistant message. */
export function decodeImage(part: JsonObject, path: string): ImageBlock {
  const image = part.image_url;
  // Mistral allows the URL itself in `image_url`.
  const url = isObject(image)
    ? requiredText(image, "url", `${path}.image_url`)
    : requiredText(part, "image_url", path);
  const detail =
    isObject(image) && typeof image.detail === "string"
      ? { detail: image.detail, detailPath: `${path}.image_url.detail` }
      : {};
  return { type: "image", source: imageSource(url), ...detail, ...decodeCache(part) };
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

function requiredText(value: JsonObject, field: string, path: string): string {
  const text = value[field];
  if (text == null) throw missing(`${path}.${field}`);
  if (typeof text === "string") return text;
  throw fault(`${path}.${field}`, "a string");
}
