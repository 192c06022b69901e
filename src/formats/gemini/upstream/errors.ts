/** Errors in the answers of Google's hosts: `{"error": {code, message, status, details}}`, sometimes within a list. */
import { GatewayError } from "../../../core/error.ts";
import type { HeaderReader } from "../../../core/headers.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import { list } from "../../shared/read.ts";
import { readRetryAfter } from "../../shared/retry-after.ts";
import { decodeError as decodeAny } from "../../shared/upstream-error.ts";

/** Whether Google's SDKs find a message in an error body. */
export function isErrorBody({ error }: JsonObject): boolean {
  return isObject(error) && typeof error.message === "string" && typeof error.code === "number";
}

const RATE_LIMITED = 429;
/** Google's own deadline ended the call. */
const CANCELLED = 499;
const WRONG_PLACE = /user location is not supported/i;

/** Decodes a failed answer. */
export function decodeError(status: number, headers: HeaderReader, body: string): GatewayError {
  const error = decodeAny(status, headers, body);
  if (status === RATE_LIMITED) return decodeRateLimit(error, headers, parseJson(body));
  if (status === CANCELLED) return new GatewayError("timeout", error.message, { said: error.said });
  if (error.kind === "invalid-request" && WRONG_PLACE.test(error.message))
    return new GatewayError("permission", error.message, { said: error.said });
  return error;
}

/**
 * Google words a limit of a minute like an empty account ("You exceeded your current quota"); the details say which. A retry
 * does not help against a quota of the day.
 */
function decodeRateLimit(error: GatewayError, headers: HeaderReader, body: Json | undefined): GatewayError {
  const details = detailsOf(body);
  if (details.some(isDailyQuota))
    return new GatewayError("quota", error.message, { said: error.said, shouldRetry: false });
  if (error.kind !== "quota" || !details.some(({ retryDelay }) => retryDelay !== undefined)) return error;
  return new GatewayError("rate-limited", error.message, {
    said: error.said,
    retryAfter: readRetryAfter(headers, body),
  });
}

function detailsOf(body: Json | undefined): JsonObject[] {
  const outer = Array.isArray(body) ? body[0] : body;
  const error = isObject(outer) && isObject(outer.error) ? outer.error : {};
  return list(error.details).filter(isObject);
}

/** Whether a violated quota is counted by the day: `GenerateRequestsPerDayPerProjectPerModel-FreeTier`. */
function isDailyQuota({ violations }: JsonObject): boolean {
  return list(violations).some(
    (violation) => isObject(violation) && /PerDay/.test(String(violation.quotaId)),
  );
}
