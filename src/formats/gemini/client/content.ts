/** Decodes parts into canonical blocks. */
import type { Block, ForeignBlock } from "../../../core/chat.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { decodeBase64Text, identifyMedia, isTextMediaType, normalizeMediaType } from "../../../core/media.ts";
import { list, text } from "../../shared/read.ts";
import { FORMAT } from "../own-fields.ts";
import { fault } from "../../shared/request-fault.ts";

/** Members of which a part has one: its data. */
const DATA = [
  "text",
  "inlineData",
  "fileData",
  "functionCall",
  "functionResponse",
  "executableCode",
  "codeExecutionResult",
  "toolCall",
  "toolResponse",
] as const;

/** Members that describe the data; weir has no equivalent for them. */
const DETAILS = ["videoMetadata", "mediaResolution", "partMetadata"];

export type DataName = (typeof DATA)[number];

/** The kind of a part; `undefined` for a part without data, or with data of a kind that weir does not know. */
export function dataOf(part: JsonObject): DataName | undefined {
  for (const name of DATA) if (part[name] != null) return name;
  return undefined;
}

/** Reports what describes the data of a part, and is lost with it. */
export function reportDetails(part: JsonObject, path: string, reportLoss: (path: string) => void): void {
  for (const name of DETAILS) if (part[name] != null) reportLoss(`${path}.${name}`);
}

/** Decodes media: `inlineData`, `fileData`. @throws GatewayError for data without bytes or URL */
export function decodeMedia(part: JsonObject, path: string): Block {
  if (isObject(part.inlineData)) return decodeInline(part, part.inlineData, path);
  if (isObject(part.fileData)) return decodeFile(part, part.fileData, path);
  throw fault(path, "an object with text, media, a function call or a function response");
}

function decodeInline(part: JsonObject, inline: JsonObject, path: string): Block {
  const declared = normalizeMediaType(text(inline.mimeType) ?? "");
  const { mediaType, data } = identifyMedia(declared, standardBase64(text(inline.data) ?? ""));
  const title = text(inline.displayName);
  const named = title === undefined ? {} : { title };
  if (mediaType.startsWith("image/"))
    return { type: "image", source: { type: "base64", mediaType, data }, path };
  if (mediaType.startsWith("audio/")) return { type: "audio", data, format: audioFormat(mediaType), path };
  const content = isTextMediaType(mediaType) ? decodeBase64Text(data) : undefined;
  if (content !== undefined)
    return { type: "document", source: { type: "text", mediaType, text: content }, ...named, path };
  if (mediaType === "application/pdf")
    return { type: "document", source: { type: "base64", mediaType, data }, ...named, path };
  return foreignPart(part, path);
}

/** Protobuf's JSON takes both alphabets of base64. */
function standardBase64(data: string): string {
  return /[-_]/.test(data) ? data.replaceAll("-", "+").replaceAll("_", "/") : data;
}

function audioFormat(mediaType: string): string {
  const format = mediaType.slice("audio/".length);
  return format === "mpeg" ? "mp3" : format.replace(/^x-/, "");
}

/** Files that only Google can read: those of its Files API, of Cloud Storage, and videos of YouTube. */
const GOOGLE_FILE =
  /^(?!https?:)|^https?:\/\/(?:[\w.-]+\.googleapis\.com|(?:www\.)?youtube\.com|youtu\.be)\//i;
const IMAGE_NAME = /\.(?:png|jpe?g|gif|webp)(?:[?#]|$)/i;
const PDF_NAME = /\.pdf(?:[?#]|$)/i;

function decodeFile(part: JsonObject, file: JsonObject, path: string): Block {
  const url = text(file.fileUri) ?? "";
  const mediaType = normalizeMediaType(text(file.mimeType) ?? "");
  if (GOOGLE_FILE.test(url)) return foreignPart(part, path);
  const source = { type: "url", url } as const;
  if (mediaType.startsWith("image/") || (mediaType === "" && IMAGE_NAME.test(url)))
    return { type: "image", source, path };
  if (mediaType === "application/pdf" || (mediaType === "" && PDF_NAME.test(url)))
    return { type: "document", source, path };
  return foreignPart(part, path);
}

/** A part that only this format has. Its signature is in the reasoning in front of it. */
export function foreignPart(part: JsonObject, path: string): ForeignBlock {
  const { thoughtSignature: _, ...value } = part;
  const read = textOf(value);
  return { type: "foreign", format: FORMAT, value, ...(read !== undefined && { text: read }), path };
}

/** The work of Google's tools, as text for other vendors: the model's knowledge of it must not disappear. */
function textOf({
  executableCode,
  codeExecutionResult,
  toolCall,
  toolResponse,
}: JsonObject): string | undefined {
  if (isObject(executableCode))
    return `\`\`\`${(text(executableCode.language) ?? "").toLowerCase()}\n${text(executableCode.code) ?? ""}\n\`\`\``;
  if (isObject(codeExecutionResult)) return `[code execution: ${text(codeExecutionResult.output) ?? ""}]`;
  if (isObject(toolCall))
    return `[${text(toolCall.toolType) ?? "tool"}: ${JSON.stringify(toolCall.args ?? {})}]`;
  if (isObject(toolResponse))
    return `[${text(toolResponse.toolType) ?? "tool"} result: ${JSON.stringify(toolResponse.response ?? {})}]`;
  return undefined;
}

/** Members that hold the result of a function if they are its only one. */
const RESULTS = ["output", "result", "content"];

/** The content of a function response: text as it is, everything else as JSON. */
export function decodeResponse(
  { response, parts }: JsonObject,
  path: string,
): { blocks: Block[]; error?: true } {
  const media = list(parts).map((part, index) => {
    const place = `${path}.parts[${index}]`;
    if (!isObject(part)) throw fault(place, "an object");
    return decodeMedia(part, place);
  });
  const { value, error } = resultOf(response);
  const blocks: Block[] = value === undefined ? media : [{ type: "text", text: value, path }, ...media];
  return { blocks, ...(error && { error }) };
}

function resultOf(response: Json | undefined): { value?: string; error?: true } {
  if (!isObject(response)) return {};
  const given = Object.entries(response).filter(([, value]) => value != null);
  const [first, second] = given;
  if (!first) return {};
  const [name, value] = first;
  const isError = response.error != null;
  const alone = second === undefined && (isError || RESULTS.includes(name));
  const isText = typeof value === "string";
  const written = alone && (isText || isError || name === "output") ? value : response;
  return {
    value: typeof written === "string" ? written : JSON.stringify(written),
    ...(isError && { error: true }),
  };
}
