/** How large a request is, for the estimate of its cost. Reads bytes: nothing is parsed but small members. */
import { isObject, parseJson } from "../core/json.ts";
import type { RequestSize } from "../core/ledger.ts";
import type { SizeMembers } from "../core/size-members.ts";
import type { CallCodec, Incoming } from "./types.ts";

/** What is read of a request. */
export type Sized = Pick<Incoming, "bytes" | "spanOf" | "stored"> & {
  format: { client: Pick<CallCodec, "size"> };
};

/** Shorter bodies have no media that count less than their text would. Bytes. */
const MEDIA_FROM = 4096;
/** Shorter strings of base64 are counted as text. Characters. */
const SHORTEST_MEDIA = 1024;
/** The most that vendors count for one image. Tokens. */
const IMAGE_TOKENS = 1600;
/** Characters of base64 for a token of a document or of audio. */
const CHARACTERS_PER_TOKEN = 20;
/** Longer members hold no limits. Bytes. */
const MAX_MEMBER_BYTES = 64 * 1024;

export function sizeOf({ bytes, spanOf, stored, format: { client } }: Sized): RequestSize {
  const { size } = client;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const media = buffer.length < MEDIA_FROM ? NO_MEDIA : mediaIn(buffer, size?.bareImages);
  const limits = size && limitsIn(buffer, spanOf, size);
  return {
    textBytes: buffer.length - media.bytes + (stored?.addedBytes ?? 0),
    mediaTokens: media.tokens + linkedTokens(buffer, size),
    hasTools: size?.tools.some((name) => spanOf(name) !== undefined) ?? false,
    hasServerTools: size !== undefined && hasServerTools(buffer, spanOf, size),
    maxTokens: limits?.maxTokens,
    choices: limits?.choices ?? 1,
    tier: size && word(buffer, spanOf, size.tier),
    speed: size && word(buffer, spanOf, size.speed),
  };
}

type SpanOf = Sized["spanOf"];

function limitsIn(
  bytes: Buffer,
  spanOf: SpanOf,
  { maxTokens, choices, within }: SizeMembers,
): { maxTokens?: number; choices?: number } {
  const numberOf = within ? inObjects(bytes, spanOf, within) : (name: string) => read(bytes, spanOf(name));
  const number = (name: string) => {
    const value = numberOf(name);
    return typeof value === "number" && value > 0 ? value : undefined;
  };
  let limit: number | undefined;
  // Providers differ in which of several limits they observe.
  for (const name of maxTokens) {
    const found = number(name);
    if (found !== undefined) limit = Math.max(found, limit ?? 0);
  }
  return { maxTokens: limit, choices: choices === undefined ? undefined : number(choices) };
}

function inObjects(bytes: Buffer, spanOf: SpanOf, names: readonly string[]): (name: string) => unknown {
  const objects = names.map((name) => read(bytes, spanOf(name))).filter(isObject);
  return (name) => objects.find((object) => object[name] !== undefined)?.[name];
}

function word(bytes: Buffer, spanOf: SpanOf, name: string | undefined): string | undefined {
  const value = name === undefined ? undefined : read(bytes, spanOf(name));
  return typeof value === "string" ? value : undefined;
}

function read(bytes: Buffer, span: { start: number; end: number } | undefined): unknown {
  if (!span || span.end - span.start > MAX_MEMBER_BYTES) return undefined;
  return parseJson(bytes.toString("utf8", span.start, span.end));
}

function hasServerTools(bytes: Buffer, spanOf: SpanOf, size: SizeMembers): boolean {
  if (size.serverToolMembers?.some((name) => spanOf(name) !== undefined)) return true;
  for (const name of size.tools) {
    const span = spanOf(name);
    const tools = span && bytes.subarray(span.start, span.end);
    if (tools && size.serverTools.some((mark) => tools.includes(mark, 0, "latin1"))) return true;
  }
  return false;
}

/** The marks of links as bytes, with the tokens of each: searching for a string encodes it each time. */
const linksOf = new WeakMap<SizeMembers, readonly (readonly [Buffer, number])[]>();

function linkedTokens(bytes: Buffer, size: SizeMembers | undefined): number {
  if (!size?.links) return 0;
  let links = linksOf.get(size);
  if (!links) {
    links = Object.entries(size.links).map(([mark, tokens]) => [Buffer.from(mark), tokens]);
    linksOf.set(size, links);
  }
  let sum = 0;
  for (const [mark, tokens] of links)
    for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + mark.length)) sum += tokens;
  return sum;
}

interface Media {
  /** Length of all base64 strings. Bytes. */
  bytes: number;
  tokens: number;
}

const NO_MEDIA: Media = { bytes: 0, tokens: 0 };

/** What stands in front of base64 in all formats: a data URL, or a member of that name. */
const IN_URL = ";base64,";
const MEMBER = '"data"';
const QUOTE = 0x22;

/** @param bareImages as in {@link SizeMembers} */
function mediaIn(bytes: Buffer, bareImages = false): Media {
  const media: Media = { bytes: 0, tokens: 0 };
  for (let at = bytes.indexOf(IN_URL); at >= 0; at = bytes.indexOf(IN_URL, at))
    at = addMedia(bytes, at + IN_URL.length, media);
  for (let at = bytes.indexOf(MEMBER); at >= 0; at = bytes.indexOf(MEMBER, at)) {
    const value = bytes.indexOf(QUOTE, at + MEMBER.length);
    const gap = value < 0 ? "" : bytes.toString("latin1", at + MEMBER.length, Math.min(value, at + 64));
    const isString = gap.trim() === ":";
    at = isString ? addMedia(bytes, value + 1, media) : at + MEMBER.length;
  }
  for (const mark of bareImages ? IMAGES : [])
    for (let at = bytes.indexOf(`"${mark}`); at >= 0; at = bytes.indexOf(`"${mark}`, at))
      at = addMedia(bytes, at + 1, media);
  return media;
}

/** Beginnings of images in base64: PNG, JPEG, GIF, WebP. */
const IMAGES: readonly string[] = ["iVBOR", "/9j/", "R0lGOD", "UklGR"];
const BASE64 = /^[A-Za-z0-9+/_-]*$/;

/** @returns where the string ends */
function addMedia(bytes: Buffer, start: number, media: Media): number {
  const found = bytes.indexOf(QUOTE, start);
  const end = found < 0 ? bytes.length : found;
  const length = end - start;
  const beginning = bytes.toString("latin1", start, Math.min(end, start + 64));
  if (length < SHORTEST_MEDIA || !BASE64.test(beginning)) return end;
  media.bytes += length;
  const isImage = IMAGES.some((mark) => beginning.startsWith(mark));
  media.tokens += isImage ? IMAGE_TOKENS : Math.ceil(length / CHARACTERS_PER_TOKEN);
  return end;
}
