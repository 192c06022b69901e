/** Recognises errors of providers of completions in frames and bodies. */
import type { Frame } from "../../../core/format.ts";
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";

/** An event named `error`, `error` as object or text, `object: "error"` of vLLM and Mistral, or `detail` of FastAPI. */
export function errorIn(frame: Frame, body: Json | undefined): Json | undefined {
  if (frame.event === "error") return body ?? frame.data;
  if (!isObject(body)) return undefined;
  if (isObject(body.error) || (typeof body.error === "string" && body.error !== "")) return body;
  if (body.object === "error") return body;
  const isBare = typeof body.message === "string" || body.detail !== undefined;
  return isBare && body.choices === undefined ? body : undefined;
}

/** Whether clients find a message in an error body. */
export function isErrorBody({ error, message }: JsonObject): boolean {
  return isObject(error) || typeof error === "string" || typeof message === "string";
}
