/** `POST /v1beta/cachedContents` of the Gemini API. */
import { Type } from "@sinclair/typebox";
import type { CacheAnswer, CacheRequest } from "../../core/cached-content.ts";
import type { KindRoute } from "../../core/model-kind.ts";
import { anything, open, optional, toJson } from "../../formats/shared/schema.ts";
import { checkRequest, decodeRequest, readModel } from "./request.ts";
import { CachedContent } from "./schema.ts";

const CacheBody = open({
  model: Type.String({ minLength: 1, description: "With or without `models/` before the name." }),
  contents: optional(
    Type.Array(open({ role: optional(Type.String()), parts: optional(Type.Array(anything())) })),
  ),
  systemInstruction: optional(anything()),
  tools: optional(Type.Array(anything())),
  toolConfig: optional(anything()),
  ttl: optional(Type.String({ description: 'A duration such as `"300s"`. Default: an hour.' })),
  expireTime: optional(Type.String({ description: "In place of `ttl`: a time, as RFC 3339 writes it." })),
  displayName: optional(Type.String()),
});

export const cacheRoute: KindRoute<CacheRequest, CacheAnswer> = {
  operation: "createCachedContent",
  summary: "Keep the beginning of prompts",
  description:
    "A provider keeps contents, a system instruction and tools, which later requests name by `cachedContent`. The key that asks owns it.",
  path: "/v1beta/cachedContents",
  // Google's SDK asks the first one by default.
  aliases: ["/v1/cachedContents", "/v1alpha/cachedContents"],
  vendor: "google",
  schemas: { request: toJson(CacheBody), answer: toJson(CachedContent) },
  readModel,
  checkRequest,
  decodeRequest,
  writeAnswer: ({ facts }) => JSON.stringify(facts),
};
