/**
 * Encodes the URL of a file. Vertex AI fetches public URLs and those of Cloud Storage; the Gemini API reads only files that were
 * uploaded to it, and videos of YouTube.
 */
import { invalidRequest } from "../../../core/error.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { Traits } from "../../../core/provider.ts";

const UPLOADED = /^https:\/\/generativelanguage\.googleapis\.com\/[^?#]*\bfiles\//;
const YOUTUBE = /^https:\/\/(?:www\.youtube\.com\/|youtu\.be\/)/;

/** Media types by the extension of a URL. */
const BY_EXTENSION: ReadonlyMap<string, string> = new Map([
  ["png", "image/png"],
  ["jpg", "image/jpeg"],
  ["jpeg", "image/jpeg"],
  ["webp", "image/webp"],
  ["heic", "image/heic"],
  ["heif", "image/heif"],
  ["pdf", "application/pdf"],
  ["txt", "text/plain"],
  ["csv", "text/csv"],
  ["html", "text/html"],
  ["mp3", "audio/mp3"],
  ["wav", "audio/wav"],
  ["mp4", "video/mp4"],
]);

/** For a URL without a known extension: Vertex AI wants a type. */
const FALLBACK = { image: "image/jpeg", document: "application/pdf" } as const;

/** @throws GatewayError `invalid-request` for a URL that the provider does not fetch */
export function fileUrlPart(
  url: string,
  kind: keyof typeof FALLBACK,
  path: string,
  { fileUrls }: Traits,
): JsonObject {
  if (UPLOADED.test(url) || YOUTUBE.test(url)) return { fileData: { fileUri: url } };
  if (fileUrls && /^(?:https|gs):\/\//.test(url))
    return { fileData: { mimeType: typeOf(url) ?? FALLBACK[kind], fileUri: url } };
  throw invalidRequest(
    `${path}: the provider does not fetch this URL; send the content as a data URI.`,
    path,
    "unsupported_value",
  );
}

function typeOf(url: string): string | undefined {
  const { pathname } = URL.parse(url) ?? { pathname: "" };
  return BY_EXTENSION.get(pathname.slice(pathname.lastIndexOf(".") + 1).toLowerCase());
}
