/** Reads images and files of requests in the shapes of OpenAI: data URIs, bare base64, URLs. */
import type { DocumentBlock, Source } from "../../core/chat.ts";
import {
  decodeBase64Text,
  identifyMedia,
  isTextMediaType,
  type Media,
  mediaTypeOfName,
  parseDataUri,
} from "../../core/media.ts";

/** The source of an image: a data URI becomes bytes, any other URL stays a URL. */
export function imageSource(url: string): Source {
  const media = parseDataUri(url);
  return media ? { type: "base64", ...media } : { type: "url", url };
}

/** Whether a text is an http or https URL. */
export function isUrl(text: string): boolean {
  return /^https?:\/\//i.test(text);
}

/** File data is a data URI, bare base64, or a URL (OpenRouter). Text files become text. */
export function documentSource(data: string, filename: string | undefined): DocumentBlock["source"] {
  if (isUrl(data)) return { type: "url", url: data };
  const media = parseDataUri(data) ?? identifyMedia(mediaTypeOfName(filename ?? ""), data);
  const text = isTextMediaType(media.mediaType) ? decodeBase64Text(media.data) : undefined;
  return text === undefined ? base64Source(media) : { type: "text", mediaType: media.mediaType, text };
}

function base64Source(media: Media): Source {
  return { type: "base64", mediaType: media.mediaType || "application/octet-stream", data: media.data };
}
