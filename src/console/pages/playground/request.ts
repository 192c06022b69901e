/** The body that a person has edited as JSON, and the exception that the SDK of a format raises. */
import type { Body, FormatName } from "../../data/request.ts";

/** @param text JSON that a person has edited @returns one sentence if it is not an object */
export function readBody(text: string): Body | string {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Body;
    return "The body is not a JSON object.";
  } catch (cause) {
    return `The body is not JSON: ${(cause as SyntaxError).message}.`;
  }
}

const ERRORS: Readonly<Record<number, string>> = {
  400: "BadRequestError",
  401: "AuthenticationError",
  403: "PermissionDeniedError",
  404: "NotFoundError",
  409: "ConflictError",
  422: "UnprocessableEntityError",
  429: "RateLimitError",
};
/** The exception that the vendor's Python SDK raises for a status. 200: an error event within the stream. */
export function exceptionOf(format: FormatName, status: number): string {
  const [module, inStream] = format === "messages" ? ["anthropic", "APIStatusError"] : ["openai", "APIError"];
  const other = status < 400 ? inStream : status >= 500 ? "InternalServerError" : "APIStatusError";
  return `${module}.${ERRORS[status] ?? other}`;
}
