/**
 * Media in requests: data URIs, misspelt media types, and detection of the type from the bytes. Vendors refuse media whose
 * declared type differs from the bytes, so weir sends the detected type.
 */
import { getOwn } from "./own.ts";

/** Base64 bytes with their media type. */
export interface Media {
  /** Normalised; empty when unknown. */
  mediaType: string;
  /** Base64 without a `data:` prefix and without white space. */
  data: string;
}

const SPELLINGS: Record<string, string> = {
  "image/jpg": "image/jpeg",
  "image/pjpeg": "image/jpeg",
  "image/x-png": "image/png",
  "application/x-pdf": "application/pdf",
  "text/x-markdown": "text/markdown",
  "application/x-json": "application/json",
  "text/json": "application/json",
};

/** Normalises a media type to its registered spelling, lower case, without parameters: `image/JPG; x=1` → `image/jpeg`. */
export function normalizeMediaType(mediaType: string): string {
  const bare = (mediaType.split(";", 1)[0] ?? "").trim().toLowerCase();
  return getOwn(SPELLINGS, bare) ?? bare;
}

/** Magic numbers, as Latin-1 text; `at` is the offset. */
const MAGIC: { mediaType: string; marks: { at: number; text: string }[] }[] = [
  { mediaType: "image/png", marks: [{ at: 0, text: "\x89PNG\r\n\x1a\n" }] },
  { mediaType: "image/jpeg", marks: [{ at: 0, text: "\xff\xd8\xff" }] },
  { mediaType: "image/gif", marks: [{ at: 0, text: "GIF87a" }] },
  { mediaType: "image/gif", marks: [{ at: 0, text: "GIF89a" }] },
  {
    mediaType: "image/webp",
    marks: [
      { at: 0, text: "RIFF" },
      { at: 8, text: "WEBP" },
    ],
  },
  { mediaType: "application/pdf", marks: [{ at: 0, text: "%PDF-" }] },
];

/** Number of base64 characters that contain the longest magic number (12 bytes). */
const HEAD_CHARACTERS = 16;

/** Detects the type from the first bytes: jpeg, png, gif, webp or pdf. */
export function sniffMediaType(base64: string): string | undefined {
  const head = Buffer.from(base64.slice(0, HEAD_CHARACTERS), "base64").toString("latin1");
  return MAGIC.find(({ marks }) => marks.every(({ at, text }) => head.startsWith(text, at)))?.mediaType;
}

/** Media with the detected type, or the declared type if none is detected. */
export function identifyMedia(declared: string, base64: string): Media {
  const data = /\s/.test(base64) ? base64.replace(/\s+/g, "") : base64;
  return { mediaType: sniffMediaType(data) ?? normalizeMediaType(declared), data };
}

const DATA_URI = /^data:([^,]*),/i;

/** Parses `data:[type][;base64],…` (RFC 2397); `undefined` for other URIs. */
export function parseDataUri(uri: string): Media | undefined {
  const match = DATA_URI.exec(uri.slice(0, 256));
  if (!match) return undefined;
  const header = match[1]!;
  const payload = uri.slice(match[0].length);
  if (/;\s*base64\s*$/i.test(header)) return identifyMedia(header, base64Text(payload));
  return {
    mediaType: normalizeMediaType(header) || "text/plain",
    data: percentBytes(payload).toString("base64"),
  };
}

/** Writes base64 bytes as a data URI. */
export function writeDataUri({ mediaType, data }: Media): string {
  return `data:${mediaType};base64,${data}`;
}

/** Whether a media type is text that a model can read directly. */
export function isTextMediaType(mediaType: string): boolean {
  return (
    mediaType.startsWith("text/") ||
    /^application\/(?:json|xml|yaml|x-yaml|toml|csv|javascript|typescript|x-ndjson|jsonl)$/.test(mediaType) ||
    /^application\/[\w.-]+\+(?:json|xml|yaml)$/.test(mediaType)
  );
}

/** Decodes base64 as UTF-8 text; `undefined` for bytes that are not UTF-8. */
export function decodeBase64Text(base64: string): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(base64, "base64"));
  } catch {
    return undefined;
  }
}

/** Decodes percent escapes inside base64 (`%2B`, `%3D`). A payload without escapes is returned without a copy. */
function base64Text(payload: string): string {
  return payload.includes("%") ? percentBytes(payload).toString("latin1") : payload;
}

/** The bytes of a URI payload. Percent escapes are bytes, not characters. */
function percentBytes(payload: string): Buffer {
  const bytes = Buffer.from(payload, "utf8").toString("latin1");
  const plain = bytes.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(plain, "latin1");
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

/** The media type that the name of a file suggests; empty if none is known. */
export function mediaTypeOfName(name: string): string {
  const extension = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? "";
  return getOwn(TYPE_BY_EXTENSION, extension) ?? "";
}
