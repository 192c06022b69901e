/** How clients of the Gemini API read, prolong and delete what is kept for them. */
import { Type } from "@sinclair/typebox";
import { type CacheAnswer, TOKEN_HOUR, tokenHours } from "../../core/cached-content.ts";
import { invalidRequest } from "../../core/error.ts";
import { isObject } from "../../core/json.ts";
import type { KeepsCodec } from "../../core/model-kind.ts";
import { fault } from "../../formats/shared/request-fault.ts";
import { open, optional, toJson } from "../../formats/shared/schema.ts";
import { readCached } from "./dialect.ts";
import { secondsSaid } from "./request.ts";
import { CachedContent } from "./schema.ts";

export const PREFIX = "cachedContents/";

const USUAL_PAGE = 50;
const MOST_PAGE = 1_000;

const Update = open({
  ttl: optional(Type.String({ description: 'A duration from now on, such as `"300s"`.' })),
  expireTime: optional(Type.String({ description: "In place of `ttl`: a time, as RFC 3339 writes it." })),
});

const List = open({
  cachedContents: Type.Optional(Type.Array(CachedContent)),
  nextPageToken: Type.Optional(Type.String()),
});

export const keeps: KeepsCodec<CacheAnswer> = {
  id: "CachedContent",
  words: "cached contents",
  prefix: PREFIX,
  schemas: { thing: toJson(CachedContent), update: toJson(Update), list: toJson(List) },
  thing: ({ name, expires, facts }) => ({ name, expires, facts }),
  read(text) {
    const answer = readCached(text);
    return answer && keeps.thing(answer);
  },
  untilIn(update, now) {
    const seconds = secondsSaid(update, now);
    if (seconds === undefined)
      throw invalidRequest("Give `ttl` or `expireTime`; nothing else can be changed.", "ttl");
    return now + seconds * 1_000;
  },
  keptUntil: (facts, expires) => ({
    ...facts,
    ...{ updateTime: new Date().toISOString(), expireTime: new Date(expires).toISOString() },
  }),
  unitsFor({ usageMetadata }, seconds) {
    const tokens = isObject(usageMetadata) ? usageMetadata["totalTokenCount"] : undefined;
    return { [TOKEN_HOUR]: tokenHours(typeof tokens === "number" ? tokens : 0, seconds) };
  },
  list: (facts, next) => ({
    ...(facts.length > 0 && { cachedContents: [...facts] }),
    ...(next !== undefined && { nextPageToken: Buffer.from(next).toString("base64url") }),
  }),
  page(query) {
    const size = query.get("pageSize") ?? query.get("page_size");
    const limit = size === null || size === "" ? USUAL_PAGE : Number(size);
    if (!Number.isInteger(limit) || limit < 0) throw fault("pageSize", "a whole number");
    const token = query.get("pageToken") ?? query.get("page_token");
    const after = token ? Buffer.from(token, "base64url").toString() : undefined;
    if (after !== undefined && !after.startsWith(PREFIX))
      throw fault("pageToken", "the `nextPageToken` of a page");
    return { limit: Math.min(limit || USUAL_PAGE, MOST_PAGE), after };
  },
};
