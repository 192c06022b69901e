/** Decodes the content of a message: its text, and the images beside it. */
import type { Block, ImageBlock } from "../../../core/chat.ts";
import { identifyMedia, parseDataUri } from "../../../core/media.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { list, text } from "../../shared/read.ts";
import { fault } from "../../shared/request-fault.ts";

/** @param member name of the member with the text @param path of the message, with a dot behind it if it is not the body */
export function decodeContent(message: JsonObject, member: string, path: string): Block[] {
  const content = text(message[member]) ?? "";
  const images = list(message.images).map((image, index) => decodeImage(image, `${path}images[${index}]`));
  return content === "" ? images : [{ type: "text", text: content, path: `${path}${member}` }, ...images];
}

/** An image is bare base64: its bytes say of what type it is. @throws GatewayError for bytes that are no image */
function decodeImage(image: Json, path: string): ImageBlock {
  const given = text(image) ?? "";
  const { mediaType, data } = parseDataUri(given) ?? identifyMedia("", given);
  if (!mediaType.startsWith("image/")) throw fault(path, "the base64 of a PNG, JPEG, GIF or WebP image");
  return { type: "image", source: { type: "base64", mediaType, data }, path };
}
