/** Decodes the content of items into canonical blocks. */
import type { Block, Source } from "../../../core/chat.ts";
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import { getOwn } from "../../../core/own.ts";
import { documentSource, imageSource } from "../../shared/file-data.ts";
import { decodeCache } from "../../shared/prompt-cache.ts";
import { text } from "../../shared/read.ts";
import { FORMAT } from "../own-fields.ts";
import { fault, missing } from "../../shared/request-fault.ts";

/** Decodes a string or a list of parts. @param path as error messages write it (`input[0].content`) */
export function decodeContent(content: Json | undefined, path: string): Block[] {
  if (content == null || content === "") return [];
  if (typeof content === "string") return [{ type: "text", text: content, path }];
  if (!Array.isArray(content)) throw fault(path, "a string or a list");
  return content.map((part, index) => decodePart(part, `${path}[${index}]`));
}

/** Returns the block without its path. */
type Decoder = (part: JsonObject, path: string) => Block;

const DECODERS: Readonly<Record<string, Decoder>> = {
  input_text: decodeText,
  output_text: decodeText,
  // Clients that translate from other formats write the names of those.
  text: decodeText,
  refusal: (part, path) => ({ type: "refusal", text: requiredText(part, "refusal", path) }),
  input_image: decodeImage,
  input_file: decodeFile,
  input_audio: decodeAudio,
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

function decodeImage(part: JsonObject, path: string): Block {
  const url = text(part.image_url);
  const id = text(part.file_id);
  if (url === undefined && id === undefined) throw missing(`${path}.image_url`);
  const source: Source = url === undefined ? { type: "file", id: id! } : imageSource(url);
  const detail = text(part.detail);
  return {
    type: "image",
    source,
    ...(detail !== undefined && { detail, detailPath: `${path}.detail` }),
    ...decodeCache(part),
  };
}

function decodeFile(part: JsonObject, path: string): Block {
  const title = text(part.filename);
  const named = title === undefined ? {} : { title };
  const data = text(part.file_data);
  if (data !== undefined)
    return { type: "document", source: documentSource(data, title), ...named, ...decodeCache(part) };
  const url = text(part.file_url);
  if (url !== undefined)
    return { type: "document", source: { type: "url", url }, ...named, ...decodeCache(part) };
  const id = text(part.file_id);
  if (id === undefined) throw missing(`${path}.file_data`);
  return { type: "document", source: { type: "file", id }, ...named, ...decodeCache(part) };
}

function decodeAudio(part: JsonObject, path: string): Block {
  if (!isObject(part.input_audio)) throw missing(`${path}.input_audio`);
  const data = requiredText(part.input_audio, "data", `${path}.input_audio`);
  return { type: "audio", data, format: text(part.input_audio.format) ?? "wav" };
}

function requiredText(value: JsonObject, field: string, path: string): string {
  const content = value[field];
  if (content == null) throw missing(`${path}.${field}`);
  if (typeof content === "string") return content;
  throw fault(`${path}.${field}`, "a string");
}
