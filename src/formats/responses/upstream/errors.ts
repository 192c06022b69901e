/** Errors in the answers of a responses provider. */
import { GatewayError } from "../../../core/error.ts";
import type { Frame } from "../../../core/format.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { decodeErrorBody } from "../../shared/upstream-error.ts";

/**
 * Returns the error in the data of an event, if any: an event of type `error`, flat or with a nested `error`, or an error
 * without a type, which proxies send.
 */
export function errorIn(frame: Frame, data: Json | undefined): Json | undefined {
  if (!isObject(data)) return frame.event === "error" ? (data ?? frame.data) : undefined;
  const isTyped = typeof data.type === "string" && data.type !== "error";
  if (isTyped) return undefined;
  const isError = data.type === "error" || frame.event === "error";
  return isError || isObject(data.error) || typeof data.error === "string" ? data : undefined;
}

/** The error of a JSON answer that is none: its `error`, or a status that says that generation failed. */
export function errorInAnswer(body: JsonObject): GatewayError | undefined {
  const { error, status } = body;
  if (isObject(error) || (typeof error === "string" && error !== "")) return decodeErrorBody(body);
  if (status === "failed" || status === "cancelled") return failed(String(status));
  if (!Array.isArray(body.output) && (typeof body.message === "string" || body.detail !== undefined))
    return decodeErrorBody(body);
  return undefined;
}

/** The error of `response.failed` and `response.cancelled`. */
export function failureOf({ response }: JsonObject): GatewayError {
  const { error, status } = isObject(response) ? response : {};
  return isObject(error) ? decodeErrorBody(error) : failed(String(status ?? "failed"));
}

function failed(status: string): GatewayError {
  return new GatewayError("upstream", `The provider reported that generation failed (status: ${status}).`, {
    code: "upstream_failed",
  });
}

/** Whether clients find a message in an error body. */
export function isErrorBody({ error, message }: JsonObject): boolean {
  return isObject(error) || typeof error === "string" || typeof message === "string";
}
