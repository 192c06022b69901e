/** Requests that count tokens. */
import type { CountOperation } from "../../../core/format.ts";
import type { JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { toJson } from "../../shared/schema.ts";
import { GeminiCount, GeminiCountRequest } from "../schema.ts";
import { pathOf } from "./address.ts";

/** The request whose tokens are counted: the member `generateContentRequest`, or the body. */
export function requestOf(body: JsonObject): JsonObject {
  const whole = body.generateContentRequest ?? body.generate_content_request;
  if (!isObject(whole)) return body;
  const { model, stream } = body;
  return { ...whole, model: model ?? whole.model ?? null, stream: stream ?? null };
}

export const count: CountOperation = {
  path: pathOf("countTokens"),
  implied: {},
  requestOf,
  member: "totalTokens",
  schemas: { request: toJson(GeminiCountRequest), answer: toJson(GeminiCount) },
};
