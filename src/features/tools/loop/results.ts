/** The result of a tool, as the model and the client get it. */
import type { Block } from "../../../core/chat.ts";
import type { HostedResult } from "../../../core/events.ts";
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { ToolResult } from "../bench.ts";

/** Most text of a result. Bytes of UTF-8. */
export const RESULT_BYTES = 102_400;
/** Most images of a result, which are no text: base64 of all. Bytes. */
const IMAGE_BYTES = 6_291_456;

/** What a call of a tool came to. */
export interface Outcome {
  /** For the model. */
  readonly blocks: Block[];
  /** The text of it, for the client. */
  readonly text: string;
  readonly isError: boolean;
  /** There is no result of the tool: weir says why. */
  readonly isOwn?: boolean;
}

/** @param sentence says why there is no result */
export function failure(sentence: string): Outcome {
  return { blocks: [{ type: "text", text: sentence }], text: sentence, isError: true, isOwn: true };
}

/** The result for the client. */
export function hostedResult({ text, isError }: Outcome): HostedResult {
  return isError ? { error: text } : { output: text };
}

/** @param name of the tool, for losses of its content */
export function readResult(result: ToolResult, name: string): Outcome {
  const content: readonly Json[] = Array.isArray(result["content"]) ? result["content"] : [];
  const blocks = content.flatMap((part, index) => {
    const path = `${name}.content[${index}]`;
    return isObject(part) ? readPart(part).map((block): Block => ({ ...block, path })) : [];
  });
  const { structuredContent: structured } = result;
  if (structured !== undefined && !blocks.some(({ type }) => type === "text"))
    blocks.unshift({ type: "text", text: JSON.stringify(structured) });
  const kept = limited(blocks);
  const text = kept.map(textOf).join("\n");
  return { blocks: kept, text, isError: result["isError"] === true };
}

function readPart(part: JsonObject): Block[] {
  const { type, text, data, mimeType } = part;
  switch (type) {
    case "text":
      return typeof text === "string" ? [{ type: "text", text }] : [];
    case "image":
      return typeof data === "string" ? [image(data, mimeType)] : [];
    case "audio":
      return [note(`audio ${String(mimeType ?? "")}, which is left out`)];
    case "resource_link":
      return [note(`resource ${String(part["name"] ?? "")}: ${String(part["uri"])}`)];
    case "resource":
      return isObject(part["resource"]) ? [readResource(part["resource"])] : [];
    default:
      return [note(`content of the type ${String(type)}, which is left out`)];
  }
}

function readResource({ uri, text, blob, mimeType }: JsonObject): Block {
  if (typeof text === "string") return { type: "text", text };
  if (typeof blob === "string" && /^image\//.test(String(mimeType))) return image(blob, mimeType);
  return note(`resource ${String(uri)}, which is left out`);
}

function image(data: string, mimeType: Json | undefined): Block {
  const mediaType = typeof mimeType === "string" ? mimeType : "image/png";
  return { type: "image", source: { type: "base64", mediaType, data } };
}

function note(clause: string): Block {
  return { type: "text", text: `[${clause}]` };
}

function textOf(block: Block): string {
  if (block.type === "text") return block.text;
  return block.type === "image" && block.source.type === "base64" ? `[image ${block.source.mediaType}]` : "";
}

/** Cuts the text, and leaves out images that are too large; a sentence says so. */
function limited(blocks: readonly Block[]): Block[] {
  let text = 0;
  let images = 0;
  const kept: Block[] = [];
  for (const block of blocks) {
    if (block.type === "image" && block.source.type === "base64") {
      images += block.source.data.length;
      kept.push(images > IMAGE_BYTES ? note("image, which is too large and left out") : block);
    } else if (block.type === "text") {
      const room = RESULT_BYTES - text;
      text += Buffer.byteLength(block.text);
      if (room > 0) kept.push(text > RESULT_BYTES ? { ...block, text: cut(block.text, room) } : block);
    } else kept.push(block);
  }
  if (text > RESULT_BYTES)
    kept.push(
      note(`weir has cut this result: it has ${text} bytes, and these were the first ${RESULT_BYTES}`),
    );
  return kept;
}

/** The longest beginning of so many bytes that ends with a whole character. */
function cut(text: string, bytes: number): string {
  const buffer = Buffer.from(text);
  let end = bytes;
  while (end > 0 && ((buffer[end] ?? 0) & 0xc0) === 0x80) end--;
  return buffer.subarray(0, end).toString();
}
