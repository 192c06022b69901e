/** `cachedContents` of the Gemini API. There is one dialect, so that every host gets the client's bytes. */
import { type CacheAnswer, type CacheRequest, TOKEN_HOUR, tokenHours } from "../../core/cached-content.ts";
import { isObject, type Json, parseJson } from "../../core/json.ts";
import type { KindDialect } from "../../core/model-kind.ts";
import type { RequestSize } from "../../core/request-size.ts";
import { IMAGE_TOKENS } from "../../core/tokens/image-tokens.ts";
import { MostTokens } from "../../core/tokens/most-tokens.ts";
import { count } from "../../formats/shared/token-counts.ts";
import { decodeError } from "../../formats/shared/upstream-error.ts";
import { DIALECT, writeModel } from "./request.ts";

/** Base64 of an image, a document or a sound. */
const DATA = new Set(["data", "fileUri", "file_uri"]);
/** A sound or a film has a token for fewer bytes than this; so has a document. */
const BYTES_A_TOKEN = 40;

interface Content {
  text: MostTokens;
  structure: number;
  mediaTokens: number;
}

/** What a request may use at most: the tokens once, and each of them for as long as it is kept. */
export function sizeOf({ prompt, seconds }: CacheRequest): RequestSize {
  const content: Content = { text: new MostTokens(), structure: 0, mediaTokens: 0 };
  read(prompt, content);
  const { words, digits, signs, scripts } = content.text;
  const tokens = words + digits + signs + scripts + content.structure + content.mediaTokens;
  const units = { [TOKEN_HOUR]: tokenHours(Math.ceil(tokens), seconds) };
  return { ...content, hasTools: false, hasServerTools: false, maxTokens: 0, choices: 1, units };
}

function read(value: Json | undefined, content: Content): void {
  if (typeof value === "string") {
    content.text.next();
    content.text.add(value);
  } else if (Array.isArray(value)) for (const item of value) read(item, content);
  else if (isObject(value)) {
    content.structure += 4;
    for (const [name, inner] of Object.entries(value))
      if (DATA.has(name) && typeof inner === "string")
        content.mediaTokens += Math.max(IMAGE_TOKENS, Math.ceil(inner.length / BYTES_A_TOKEN));
      else {
        content.text.next();
        content.text.add(name);
        read(inner, content);
      }
  }
}

/** `undefined` for a body that is no cached content. */
export function readCached(text: string): CacheAnswer | undefined {
  const facts = parseJson(text);
  if (!isObject(facts)) return undefined;
  const { name, expireTime, createTime, usageMetadata } = facts;
  const tokens = isObject(usageMetadata) ? count(usageMetadata["totalTokenCount"]) : undefined;
  const expires = Date.parse(String(expireTime));
  if (typeof name !== "string" || !name.startsWith("cachedContents/") || Number.isNaN(expires))
    return undefined;
  const begun = Date.parse(String(createTime));
  const seconds = (expires - (Number.isNaN(begun) ? Date.now() : begun)) / 1_000;
  const used =
    tokens === undefined
      ? undefined
      : { input: tokens, units: { [TOKEN_HOUR]: tokenHours(tokens, seconds) } };
  return { name, tokens: tokens ?? 0, expires, facts, ...(used && { usage: used }) };
}

export const caches: KindDialect<CacheRequest, CacheAnswer> = {
  id: DIALECT,
  writeModel,
  sizeOf,
  encodeRequest: ({ prompt, seconds, displayName }, { target }) => ({
    ...{ model: writeModel(target.model), ...prompt, ttl: `${seconds}s` },
    ...(displayName !== undefined && { displayName }),
  }),
  readAnswer: readCached,
  decodeError,
  isErrorBody: ({ error }) => isObject(error) && typeof error["message"] === "string",
  requestHeaders: ["x-goog-api-client", "x-server-timeout"],
  answerHeaders: ["retry-after", "server-timing"],
};
