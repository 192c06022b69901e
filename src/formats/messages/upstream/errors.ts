/** What a failed Messages upstream means (contract B.8, E.10.1). */
import type { ErrorFacts, ErrorKind } from "../../../core/error.ts";
import { GatewayError } from "../../../core/error.ts";
import type { HeaderReader } from "../../../core/format.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import { readRetryAfter, readShouldRetry } from "../../../stream/retry-after.ts";

/**
 * Kind by the vendor's error type; it says more than the status, which hosts in between rewrite. The two types not listed
 * (`invalid_request_error`, which stands for every other 4xx, and `api_error`) say less: there the status decides.
 */
const KIND_BY_TYPE: ReadonlyMap<string, ErrorKind> = new Map(
  Object.entries<ErrorKind>({
    authentication_error: "upstream-auth",
    billing_error: "upstream-auth",
    permission_error: "upstream-auth",
    not_found_error: "not-found",
    conflict_error: "conflict",
    request_too_large: "too-large",
    rate_limit_error: "rate-limited",
    timeout_error: "timeout",
    overloaded_error: "overloaded",
  }),
);

const KIND_BY_STATUS: Record<number, ErrorKind> = {
  400: "invalid-request",
  401: "upstream-auth",
  402: "upstream-auth",
  403: "upstream-auth",
  404: "not-found",
  408: "timeout",
  409: "conflict",
  413: "too-large",
  422: "invalid-request",
  425: "overloaded",
  429: "rate-limited",
  503: "overloaded",
  504: "timeout",
  529: "overloaded",
};

/** Kinds whose own status stands for the vendor's; of the rest, a vendor's 4xx is kept (422). */
const KEEPS_STATUS: ReadonlySet<ErrorKind> = new Set<ErrorKind>(["invalid-request"]);

const SPEND_LIMIT = /spend_limit|ramp_limit|credit_balance|billing/;
/** Said with a plain 400 when the account behind the gateway's own key is empty. */
const NO_FUNDS = /credit balance is too low/i;
const TOO_LONG = /prompt is too long|exceed context limit|prompt_too_long|maximum context length/i;

/** What our own credential's failure is called: whose key it is and what the vendor said of it stays inside. */
const UPSTREAM_AUTH = "The provider refused the gateway's credential; its operator has to renew it.";

/** A failed status with its body (at most 64 KB of text). */
export function decodeError(status: number, headers: HeaderReader, body: string): GatewayError {
  const parsed = parseJson(body);
  const error = errorObject(parsed);
  const type = typeof error?.type === "string" ? error.type : "";
  const kind =
    KIND_BY_TYPE.get(type) ?? KIND_BY_STATUS[status] ?? (status < 500 ? "invalid-request" : "upstream");
  const retryAfter = readRetryAfter(headers, parsed);
  return build(kindOfLimit(kind, error, retryAfter), sentenceOf(parsed, error, status), {
    error,
    retryAfter,
    shouldRetry: readShouldRetry(headers),
    status,
  });
}

/** An `error` event in mid-stream: the same object, without a status. */
export function decodeStreamError(body: Json | undefined): GatewayError {
  const error = errorObject(body);
  const type = typeof error?.type === "string" ? error.type : "";
  const kind = KIND_BY_TYPE.get(type) ?? (type === "invalid_request_error" ? "invalid-request" : "upstream");
  return build(kind, sentenceOf(body, error, 0), { error });
}

interface Findings {
  error?: JsonObject;
  retryAfter?: number;
  shouldRetry?: boolean;
  status?: number;
}

function build(
  kind: ErrorKind,
  message: string,
  { error, retryAfter, shouldRetry, status }: Findings,
): GatewayError {
  if (kind === "upstream-auth" || NO_FUNDS.test(message))
    return new GatewayError("upstream-auth", UPSTREAM_AUTH, { code: "upstream_auth", cause: message });
  const facts: ErrorFacts = { code: codeOf(kind, message, error), retryAfter, shouldRetry };
  if (KEEPS_STATUS.has(kind) && status && status >= 400 && status < 500) facts.status = status;
  return new GatewayError(kind, message, facts);
}

/** A spend limit is a 429 as well, but waiting does not lift it: it names itself, or comes without a `retry-after`. */
function kindOfLimit(
  kind: ErrorKind,
  error: JsonObject | undefined,
  retryAfter: number | undefined,
): ErrorKind {
  if (kind !== "rate-limited" || retryAfter !== undefined) return kind;
  return SPEND_LIMIT.test(vendorCode(error) ?? "") ? "quota" : kind;
}

function vendorCode(error: JsonObject | undefined): string | undefined {
  const details = isObject(error?.details) ? error.details : undefined;
  const code = details?.error_code ?? error?.code;
  return typeof code === "string" && /^[\w.-]{1,64}$/.test(code) ? code : undefined;
}

function codeOf(kind: ErrorKind, message: string, error: JsonObject | undefined): string | undefined {
  if ((kind === "invalid-request" || kind === "too-large") && TOO_LONG.test(message))
    return "context_length_exceeded";
  if (kind === "not-found" && /model/i.test(message)) return "model_not_found";
  return vendorCode(error);
}

/** The object that describes the error: `error` of the envelope, or the envelope itself where a host sends it bare. */
function errorObject(body: Json | undefined): JsonObject | undefined {
  if (!isObject(body)) return undefined;
  if (isObject(body.error)) return body.error;
  return typeof body.message === "string" || typeof body.error === "string" ? body : undefined;
}

const NEUTRAL = "The provider failed";

function sentenceOf(body: Json | undefined, error: JsonObject | undefined, status: number): string {
  const text = innermostMessage(
    error?.message ?? error?.error ?? (isObject(body) ? body.detail : undefined),
    3,
  );
  return text ? cleanSentence(text) : `${NEUTRAL}${status ? ` with status ${status}` : ""}.`;
}

/** Proxies wrap errors as JSON text inside `message`; the sentence of the innermost one is what happened. */
function innermostMessage(value: Json | undefined, depth: number): string | undefined {
  if (isObject(value)) return innermostMessage(value.message ?? value.error, depth - 1);
  if (typeof value !== "string") return undefined;
  const nested = depth > 0 && value.trimStart().startsWith("{") ? parseJson(value) : undefined;
  return (isObject(nested) && innermostMessage(nested, depth - 1)) || value;
}

/** Longest sentence passed on. UTF-16 units. */
const MAX_SENTENCE = 2000;

/** Hosts, addresses and credentials of the upstream do not reach a client. */
const SECRETS: [RegExp, string][] = [
  [/\bhttps?:\/\/[^\s"'<>)\]]+/gi, "[url]"],
  [/\b(?:Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, "[credential]"],
  [/\b(?:sk|pk|rk|key|api[-_]?key)[-_][\w*.-]{6,}/gi, "[credential]"],
  [/\bAKIA[0-9A-Z]{12,}\b|\bAIza[\w-]{20,}/g, "[credential]"],
  [/\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b/g, "[host]"],
  [/\b(?:[a-z0-9-]+\.)+(?:com|net|org|io|ai|dev|cloud|internal|local|svc|cluster)(?::\d+)?\b/gi, "[host]"],
  [/\blocalhost(?::\d+)?\b/gi, "[host]"],
];

function cleanSentence(text: string): string {
  const cut = text.length > MAX_SENTENCE ? `${text.slice(0, MAX_SENTENCE - 1)}…` : text;
  return SECRETS.reduce((sentence, [pattern, put]) => sentence.replace(pattern, put), cut);
}

/** An answer that cannot be read; what exactly, only the log learns. */
export function malformed(what: string): GatewayError {
  return new GatewayError("upstream", "The provider sent an answer that cannot be read.", {
    code: "upstream_invalid_answer",
    cause: what,
  });
}
