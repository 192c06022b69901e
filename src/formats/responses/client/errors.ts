/** Encodes errors for responses clients. */
import type { ErrorKind, GatewayError } from "../../../core/error.ts";
import type { BrokenStream, Frame } from "../../../core/format.ts";
import { isObject, type JsonObject, parseJson } from "../../../core/json.ts";
import { encodeBody, messageOf } from "../../shared/error-envelope.ts";
import { FrameWriter } from "./frames.ts";
import { BEGINNING, ResponseBuilder } from "./response.ts";

export { encodeError } from "../../shared/error-envelope.ts";

/** Codes that clients know: those of `ResponseError` in OpenAI's API, and those by which Codex decides what to do. */
const CODES: ReadonlySet<string> = new Set([
  "server_error",
  "rate_limit_exceeded",
  "invalid_prompt",
  "invalid_image",
  "invalid_image_format",
  "invalid_base64_image",
  "invalid_image_url",
  "image_too_large",
  "image_too_small",
  "image_parse_error",
  "image_content_policy_violation",
  "invalid_image_mode",
  "image_file_too_large",
  "unsupported_image_media_type",
  "empty_image_file",
  "failed_to_download_image",
  "image_file_not_found",
  "vector_store_timeout",
  "context_length_exceeded",
  "insufficient_quota",
  "usage_not_included",
  "server_is_overloaded",
  "slow_down",
  "cyber_policy",
]);

const BY_KIND: Partial<Record<ErrorKind, string>> = {
  "rate-limited": "rate_limit_exceeded",
  quota: "insufficient_quota",
  overloaded: "server_is_overloaded",
  "invalid-request": "invalid_prompt",
};

/** Encodes the error of a failed answer. Codex reads the time to wait from the message. */
export function encodeFailure(error: GatewayError): JsonObject {
  const code =
    error.code !== undefined && CODES.has(error.code) ? error.code : (BY_KIND[error.kind] ?? "server_error");
  const wait =
    error.kind === "rate-limited" && error.retryAfter !== undefined
      ? ` Please try again in ${Math.max(0, Math.ceil(error.retryAfter))}s.`
      : "";
  return { code, message: messageOf(error) + wait };
}

/**
 * Encodes the error of a stream whose frames weir has not written itself. Clients expect `response.created` first, the next
 * number, and the id of the response that began.
 */
export function encodeStreamError(
  error: GatewayError,
  requestId: string,
  isFirst?: boolean,
  broken?: BrokenStream,
): Frame[] {
  const last = broken?.last && parseJson(broken.last.data);
  const { type: lastType, sequence_number: number } = isObject(last) ? last : {};
  const frames = new FrameWriter(typeof number === "number" ? number + 1 : 0);
  const builder = new ResponseBuilder({ id: requestId, model: "" });
  if (isFirst) for (const type of BEGINNING) frames.add(type, { response: builder.begun(false) });
  if (lastType === FAILED) addError(frames, error);
  else addFailure(frames, error, { ...builder.failed(encodeFailure(error), []), ...broken?.begun });
  return frames.take();
}

const FAILED = "response.failed";

/** @param response the failed answer */
export function addFailure(frames: FrameWriter, error: GatewayError, response: JsonObject): void {
  frames.add(FAILED, { response });
  addError(frames, error);
}

/**
 * Adds the event `error`, behind the terminal one: raw streams of `openai` and LangChain ignore `response.failed` and take a
 * regular end for the end of the answer. They know the event by the member `error`, others by the members beside it.
 */
function addError(frames: FrameWriter, error: GatewayError): void {
  const { error: envelope } = encodeBody(error);
  const { type, ...told } = { ...(envelope as JsonObject), ...encodeFailure(error) };
  frames.add("error", { ...told, error: { type: type!, ...told } });
}
