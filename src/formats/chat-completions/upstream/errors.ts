/** Which frames and answers of a chat-completions upstream are errors. */
import type { Frame } from "../../../core/format.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";

/**
 * The error a frame or an answer carries, if it is one: a named event, `error` as object or text, the bare shapes of
 * vLLM and Mistral (`object: "error"`), Doubleword (`message` with a numeric `code`) and FastAPI (`detail`).
 */
export function errorIn(frame: Frame, body: Json | undefined): Json | undefined {
  if (frame.event === "error") return body ?? frame.data;
  if (!isObject(body)) return undefined;
  if (isObject(body.error) || (typeof body.error === "string" && body.error !== "")) return body;
  if (body.object === "error" || body.type === "error") return body;
  const bare = typeof body.message === "string" || body.detail !== undefined;
  return bare && body.choices === undefined ? body : undefined;
}

/**
 * Whether clients find a message in the body of a failed status: under `error`, or beside `type` and `code` (Mistral,
 * vLLM). In what FastAPI servers answer (`detail`) they find none.
 */
export function isErrorBody({ error, message }: JsonObject): boolean {
  return isObject(error) || typeof error === "string" || typeof message === "string";
}
