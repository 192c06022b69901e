/** Maps a failed answer of any vendor and format to a `GatewayError`. */
import type { ErrorFacts, ErrorKind, Said } from "../../core/error.ts";
import { GatewayError } from "../../core/error.ts";
import type { HeaderReader } from "../../core/headers.ts";
import { isObject, type Json, type JsonObject, parseJson } from "../../core/json.ts";
import { getOwn } from "../../core/own.ts";
import { readRetryAfter, readShouldRetry } from "./retry-after.ts";
import { readSentence } from "./error-sentence.ts";
import { text } from "./read.ts";
import { saysTooLong } from "./too-long.ts";

/** Statuses with one meaning. For others the words of the body decide; without a known word, 4xx is `invalid-request`. */
const KIND_BY_STATUS: Record<number, ErrorKind> = {
  401: "upstream-auth",
  402: "upstream-auth",
  403: "upstream-auth",
  404: "not-found",
  405: "upstream",
  408: "timeout",
  409: "conflict",
  413: "too-large",
  415: "unsupported-media-type",
  424: "upstream",
  425: "overloaded",
  429: "rate-limited",
  // Groq: flex tier capacity exceeded.
  498: "overloaded",
  499: "upstream",
  503: "overloaded",
  504: "timeout",
  529: "overloaded",
};

/** Words of `code`, `type` and `status` (lower case) that decide where the status does not. */
const KIND_BY_WORD: Record<string, ErrorKind> = {
  insufficient_quota: "quota",
  credit_balance_exhausted: "quota",
  billing_hard_limit_reached: "quota",
  billing_not_active: "quota",
  rate_limit_exceeded: "rate-limited",
  rate_limit_error: "rate-limited",
  resource_exhausted: "rate-limited",
  slow_down: "rate-limited",
  invalid_api_key: "upstream-auth",
  authentication_error: "upstream-auth",
  billing_error: "upstream-auth",
  permission_error: "upstream-auth",
  unauthenticated: "upstream-auth",
  permission_denied: "upstream-auth",
  model_not_found: "not-found",
  not_found_error: "not-found",
  deploymentnotfound: "not-found",
  conflict_error: "conflict",
  server_is_overloaded: "overloaded",
  overloaded_error: "overloaded",
  service_unavailable_error: "overloaded",
  unavailable: "overloaded",
  request_too_large: "too-large",
  timeout_error: "timeout",
  deadline_exceeded: "timeout",
};

/** Words that vendors use for every error of a status class; they count only for errors without a status. */
const KIND_BY_VAGUE_WORD: Record<string, ErrorKind> = {
  invalid_request_error: "invalid-request",
  invalid_argument: "invalid-request",
  server_error: "upstream",
  api_error: "upstream",
  internal: "upstream",
};

/** Codes and types for a prompt that is too long. */
const TOO_LONG_WORDS = new Set([
  "context_length_exceeded",
  "exceed_context_size_error",
  "prompt_too_long",
  "model_context_window_exceeded",
]);

const PAYMENT_REQUIRED = 402;
/** Codes of a spend limit, which vendors report like a rate limit. */
const SPEND_LIMIT = /spend_limit|ramp_limit|credit_balance|billing/;
const NO_FUNDS =
  /exceeded your current quota|insufficient (?:balance|credits|quota|funds)|credit balance is too low/i;
/** Gemini refuses a wrong key with a plain 400. */
const NO_KEY = /api key not valid|(?:invalid|incorrect) api key/i;
const NO_MODEL =
  /invalid model|not a valid model|\bmodel\b[^.]*(?:not found|does not exist)|supported api model names/i;

/** The message for a refused credential. It must not describe the credential, which belongs to the operator. */
const UPSTREAM_AUTH = "The provider rejected weir's credential; the operator of weir has to renew it.";

/** The message where the credential is right and its account cannot pay. */
const NO_CREDIT =
  "The account of weir at the provider has no credit left, or has reached its spend limit; the operator of weir has to add credit.";

/** A refusal of the reasoning of earlier turns: a signature of another model, an edited transcript. */
const REASONING_REFUSED: readonly RegExp[] = [
  /signature[^]*(thinking|thought)|(thinking|thought)[^]*signature/i,
  /expected .?thinking/i,
  /thinking`? blocks? [^]*cannot be modified/i,
  /thinking[^]*(preceding|transcript|prefix)[^]*(changed|mismatch|match)/i,
  /encrypted content[^]*could not be (?:verified|decrypted|parsed)/i,
];
/** Codes of such a refusal. */
const REASONING_REFUSED_WORD = "invalid_encrypted_content";

/** Bedrock refuses a beta feature of Claude, and does not say which. */
const FEATURE_REFUSED = /invalid beta flag/i;

function refusesReasoning({ sentence, words }: ErrorDescription): boolean {
  return (
    words.includes(REASONING_REFUSED_WORD) || REASONING_REFUSED.some((pattern) => pattern.test(sentence))
  );
}

/** Kinds that a page without a readable error may have by its status alone. */
const STATUS_ALONE: ReadonlySet<ErrorKind> = new Set<ErrorKind>(["rate-limited", "overloaded", "timeout"]);
/** Temporary failures. */
const TEMPORARY: ReadonlySet<ErrorKind> = new Set<ErrorKind>([...STATUS_ALONE, "upstream", "conflict"]);

/**
 * Decodes an answer with a failed status, in the words of most vendors. Hosts and credentials in the message are masked.
 * @param body at most 64 KB of text
 */
export function decodeError(status: number, headers: HeaderReader, body: string): GatewayError {
  const parsed = parseJson(body);
  if (typeof parsed !== "object" || parsed === null) return decodePage(status, headers);
  return decode(parsed, status, headers);
}

/** Decodes an error that came without a failed status: in a stream, or with status 200. */
export function decodeErrorBody(body: Json | undefined): GatewayError {
  return decode(body, 0, new Headers());
}

/** Decodes an HTML or text page, which a proxy between weir and the vendor wrote: only its status is meaningful. */
function decodePage(status: number, headers: HeaderReader): GatewayError {
  const kind = KIND_BY_STATUS[status] ?? "upstream";
  if (kind === "upstream-auth")
    return refusedCredential(`status ${status} without a JSON body`, status === PAYMENT_REQUIRED);
  const message = `The provider answered with status ${status} and no readable error.`;
  const retryAfter = TEMPORARY.has(kind) ? readRetryAfter(headers, undefined) : undefined;
  const shouldRetry = readShouldRetry(headers);
  if (status === 501) return new GatewayError("upstream", message, { status, shouldRetry });
  return new GatewayError(STATUS_ALONE.has(kind) ? kind : "upstream", message, { retryAfter, shouldRetry });
}

function decode(body: Json | undefined, status: number, headers: HeaderReader): GatewayError {
  const description = describe(body, status, headers);
  const kind = kindOf(description);
  const said = { code: description.word, message: description.sentence };
  if (kind === "upstream-auth")
    return refusedCredential(description.sentence, isOutOfFunds(description), said);
  const facts: ErrorFacts = { code: codeOf(kind, description), param: description.param, said };
  if (kind === "invalid-request") {
    facts.status = clientStatus(description.status);
    if (facts.status === 400 && refusesReasoning(description)) facts.refused = "reasoning";
    if (facts.status === 400 && FEATURE_REFUSED.test(description.sentence)) facts.refused = "features";
  }
  // The host lacks the operation: nothing is out of order.
  if (description.status === 501) facts.status = 501;
  if (TEMPORARY.has(kind)) facts.retryAfter = description.retryAfter;
  facts.shouldRetry = kind === "quota" ? false : readShouldRetry(headers);
  return new GatewayError(kind, description.sentence, facts);
}

function refusedCredential(cause: string, isOutOfFunds: boolean, said?: Said): GatewayError {
  return new GatewayError("upstream-auth", isOutOfFunds ? NO_CREDIT : UPSTREAM_AUTH, {
    ...{ code: "upstream_auth", said, cause },
  });
}

interface ErrorDescription {
  sentence: string;
  /** `code`, `type`, Google's `status` and Anthropic's `details.error_code`, lower case. */
  words: string[];
  /** The vendor's code, unchanged; never a number. */
  code?: string;
  /** The same, or the vendor's type or status as a word. */
  word?: string;
  param?: string;
  /** The status of the answer, or the one in the body; 0 if there is none. */
  status: number;
  /** Seconds. */
  retryAfter?: number;
  tooLong: boolean;
}

function describe(body: Json | undefined, status: number, headers: HeaderReader): ErrorDescription {
  const outer = Array.isArray(body) ? body[0] : body;
  const error = !isObject(outer) ? {} : isObject(outer.error) ? outer.error : outer;
  const sentence = readSentence(body) ?? fallbackSentence(status);
  const detail = isObject(error.details) ? text(error.details.error_code) : undefined;
  const words = [error.code, error.type, error.status, detail]
    .filter((word) => typeof word === "string")
    .map((word) => word.toLowerCase());
  const param = text(error.param);
  const code = asCode(detail) ?? asCode(text(error.code));
  return {
    sentence,
    words,
    code,
    word: code ?? asCode(text(error.type)) ?? asCode(text(error.status)),
    param: param !== undefined && param.length <= 200 ? param : undefined,
    status: status || statusInBody(error),
    retryAfter: readRetryAfter(headers, body),
    tooLong: saysTooLong(sentence) || words.some((word) => TOO_LONG_WORDS.has(word)),
  };
}

function asCode(word: string | undefined): string | undefined {
  return word !== undefined && /^[A-Za-z][\w.-]{0,63}$/.test(word) ? word : undefined;
}

/** The status that some vendors write into the body: `code: 429`, `"code": "404"`, `status_code: 400`, `raw_status_code`. */
function statusInBody(error: JsonObject): number {
  for (const value of [error.status_code, error.raw_status_code, error.status, error.code]) {
    const status = typeof value === "string" && /^\d{3}$/.test(value) ? Number(value) : value;
    if (typeof status === "number" && status >= 400 && status < 600) return status;
  }
  return 0;
}

function kindOf(description: ErrorDescription): ErrorKind {
  const { status, sentence, words } = description;
  const byStatus = KIND_BY_STATUS[status];
  if (byStatus === "upstream-auth" || (status === 400 && NO_KEY.test(sentence))) return "upstream-auth";
  // "Too many tokens" with 429 is a rate limit.
  if (description.tooLong && status < 500 && status !== 429) return "invalid-request";
  if (isOutOfFunds(description)) return status === 0 || status === 429 ? "quota" : "upstream-auth";
  if (byStatus) return byStatus;
  const byWord = wordIn(KIND_BY_WORD, words);
  if (byWord) return byWord;
  if (status === 0) return wordIn(KIND_BY_VAGUE_WORD, words) ?? "upstream";
  return status >= 500 ? "upstream" : "invalid-request";
}

function wordIn(table: Record<string, ErrorKind>, words: readonly string[]): ErrorKind | undefined {
  return words.map((word) => getOwn(table, word)).find((kind) => kind !== undefined);
}

/** Whether the account behind weir's credential has no credit or reached its spend limit; a retry does not help. */
function isOutOfFunds({ status, sentence, words, retryAfter }: ErrorDescription): boolean {
  if (status === PAYMENT_REQUIRED) return true;
  if (words.some((word) => getOwn(KIND_BY_WORD, word) === "quota")) return true;
  if (status < 500 && NO_FUNDS.test(sentence)) return true;
  // A rate limit comes with a retry-after; a spend limit does not.
  return status === 429 && retryAfter === undefined && words.some((word) => SPEND_LIMIT.test(word));
}

function codeOf(kind: ErrorKind, { sentence, code, tooLong }: ErrorDescription): string | undefined {
  switch (kind) {
    case "invalid-request":
      if (tooLong) return "context_length_exceeded";
      return NO_MODEL.test(sentence) ? "model_not_found" : ownCode(code);
    case "not-found":
      return /model|deployment/i.test(sentence) || /^deploymentnotfound$/i.test(code ?? "")
        ? "model_not_found"
        : ownCode(code);
    // Each client format has a fixed code for these kinds.
    case "quota":
    case "rate-limited":
    case "overloaded":
    case "timeout":
      return undefined;
    default:
      return ownCode(code);
  }
}

/** DeepSeek repeats the type in `code`. */
function ownCode(code: string | undefined): string | undefined {
  return code !== undefined && getOwn(KIND_BY_VAGUE_WORD, code) === "invalid-request" ? undefined : code;
}

/** Passes a vendor's 4xx that blames the request on unchanged (400, 422). */
function clientStatus(status: number): number {
  return status >= 400 && status < 500 ? status : 400;
}

function fallbackSentence(status: number): string {
  return status > 0
    ? `The provider failed with status ${status}.`
    : "The provider reported an error without a reason.";
}
