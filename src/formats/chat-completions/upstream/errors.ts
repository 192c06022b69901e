/** Recognises errors of a chat-completions provider in frames and bodies. */
import type { Frame } from "../../../core/format.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";

/**
 * Returns the error in a frame or an answer, if any: an event named `error`, `error` as object or text, or the shapes of
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
 * Whether clients find a message in an error body: in `error`, or beside `type` and `code` (Mistral, vLLM). They find none
 * in the `detail` of FastAPI servers.
 */
export function isErrorBody({ error, message }: JsonObject): boolean {
  return isObject(error) || typeof error === "string" || typeof message === "string";
}
