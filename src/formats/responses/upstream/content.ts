/** Encodes canonical blocks as parts of a message or of a tool result. */
import type { Block } from "../../../core/chat.ts";
import { invalidRequest } from "../../../core/error.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { encodePart, isBlank, type PartContext } from "../../shared/openai-parts.ts";

export { isBlank };

export type EncodeContext = PartContext;

/** Encodes a block of the user or of a tool; no parts if it is empty. @param path of the block, for losses and errors */
export function encodeInput(block: Block, path: string, context: EncodeContext): JsonObject[] {
  // Unlike chat-completions, the format has a member for the address of a document.
  if (block.type === "document" && block.source.type === "url" && context.traits.files === true)
    return [
      ...(block.context ? [inputText(block.context)] : []),
      { type: "input_file", file_url: block.source.url },
    ];
  return encodePart(block, path, context).map((part) => renamed(part, path));
}

export function inputText(text: string): JsonObject {
  return { type: "input_text", text };
}

/** The part of this format with the same content. @throws GatewayError for audio, which the format does not take */
function renamed(part: JsonObject, path: string): JsonObject {
  const { type, ...members } = part;
  switch (type) {
    case "text":
      return { type: "input_text", ...members };
    case "image_url": {
      const { image_url: image, ...mark } = members;
      const { url = null, detail } = isObject(image) ? image : {};
      return { type: "input_image", image_url: url, ...(detail !== undefined && { detail }), ...mark };
    }
    case "file":
      return { type: "input_file", ...(isObject(members.file) && members.file) };
    case "input_audio":
      throw invalidRequest(
        `${path}: the provider does not accept audio on this endpoint; remove it or choose another model.`,
        path,
        "unsupported_value",
      );
    default:
      return part;
  }
}

/** The content of a message or a result: one string if all parts are plain text. */
export function contentOf(parts: readonly JsonObject[], separator: string): Json {
  const isPlain = parts.every(
    (part) => part.type === "input_text" && part.prompt_cache_breakpoint === undefined,
  );
  return isPlain ? parts.map((part) => part.text).join(separator) : [...parts];
}
