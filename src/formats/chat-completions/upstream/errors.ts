/** What a failed chat-completions upstream means, whatever shape its vendor gives the error (contract A.7, E.10.1). */
import type { ErrorFacts, ErrorKind } from "../../../core/error.ts";
import { GatewayError } from "../../../core/error.ts";
import type { Frame, HeaderReader } from "../../../core/format.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import { lookup } from "../../../core/table.ts";
import { readRetryAfter, readShouldRetry } from "../../../stream/retry-after.ts";
import { readSentence } from "./error-text.ts";

/** Statuses that say what happened; other 4xx are `invalid-request`, all else is `upstream`. */
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

/** Words of `code`, `type` and `status` that say more than the status they come with. */
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
  permission_error: "upstream-auth",
  unauthenticated: "upstream-auth",
  permission_denied: "upstream-auth",
  model_not_found: "not-found",
  deploymentnotfound: "not-found",
  server_is_overloaded: "overloaded",
  overloaded_error: "overloaded",
  service_unavailable_error: "overloaded",
  unavailable: "overloaded",
  context_length_exceeded: "invalid-request",
  exceed_context_size_error: "invalid-request",
  request_too_large: "too-large",
  invalid_request_error: "invalid-request",
  invalid_argument: "invalid-request",
  deadline_exceeded: "timeout",
  server_error: "upstream",
  api_error: "upstream",
  internal: "upstream",
};

/** How vendors say that the prompt does not fit: OpenAI, vLLM, SGLang, llama.cpp, Ollama, Mistral, Gemini, TGI, Groq. */
const TOO_LONG = new RegExp(
  [
    "maximum context length",
    "max(?:imum)? (?:context|sequence|model|input) (?:length|len|tokens?)",
    "context (?:length|window|size|limit)[^.]*(?:exceed|reached|limit|too)",
    "exceed\\w*[^.]*context (?:length|window|size|limit)",
    "prompt (?:is )?too long",
    "input (?:is )?too long",
    "too many (?:input )?tokens",
    "input token count[^.]*exceeds",
    "tokens? [^.]*exceeds? the (?:model|maximum)",
    "inputs?`? tokens? \\+ `?max_new_tokens",
    "reduce the length of (?:the|your) (?:messages|prompt|input)",
  ].join("|"),
  "i",
);

const NO_QUOTA =
  /exceeded your current quota|insufficient (?:balance|credits|quota|funds)|credit balance is too low/i;
/** Gemini refuses a wrong key with a plain 400. */
const NO_KEY = /api key not valid|(?:invalid|incorrect) api key/i;
const NO_MODEL =
  /invalid model|not a valid model|\bmodel\b[^.]*(?:not found|does not exist)|supported api model names/i;

/** What our own credential's failure is called: whose key it is and what the vendor said of it stays inside. */
const UPSTREAM_AUTH = "The provider refused the gateway's credential; its operator has to renew it.";

/** A failed status with its body (at most 64 KB of text). */
export function decodeError(status: number, headers: HeaderReader, text: string): GatewayError {
  const body = parseJson(text);
  if (typeof body !== "object" || body === null) return decodePage(status, headers);
  return decode(body, status, headers);
}

/** The body of an error that came without a failed status: in a stream, or with 200. */
export function decodeErrorBody(body: Json): GatewayError {
  return decode(body, 0, new Headers());
}

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

/** What a page without a readable error can be believed to say by its status alone. */
const BELIEVED: ReadonlySet<ErrorKind> = new Set<ErrorKind>(["rate-limited", "overloaded", "timeout"]);
/** Failures that may be over after a while. */
const PASSING: ReadonlySet<ErrorKind> = new Set<ErrorKind>([...BELIEVED, "upstream", "conflict"]);

/** An HTML or text page: something between the gateway and the vendor answered. Only its status can be believed. */
function decodePage(status: number, headers: HeaderReader): GatewayError {
  const kind = KIND_BY_STATUS[status] ?? "upstream";
  if (kind === "upstream-auth") return refusedCredential(`status ${status} without a JSON body`);
  const message = `The provider answered with status ${status} and no readable error.`;
  const retryAfter = PASSING.has(kind) ? readRetryAfter(headers, undefined) : undefined;
  return new GatewayError(BELIEVED.has(kind) ? kind : "upstream", message, { retryAfter });
}

function decode(body: Json, status: number, headers: HeaderReader): GatewayError {
  const said = describe(body);
  const sentence = readSentence(body) ?? fallbackSentence(status);
  const kind = kindOf(said, sentence, status || said.status);
  if (kind === "upstream-auth") return refusedCredential(sentence);
  const facts: ErrorFacts = { code: codeOf(kind, said, sentence), param: said.param };
  if (kind === "invalid-request") facts.status = clientStatus(status || said.status);
  if (PASSING.has(kind)) facts.retryAfter = readRetryAfter(headers, body);
  if (kind === "quota") facts.shouldRetry = false;
  else facts.shouldRetry = readShouldRetry(headers);
  return new GatewayError(kind, sentence, facts);
}

function refusedCredential(cause: string): GatewayError {
  return new GatewayError("upstream-auth", UPSTREAM_AUTH, { code: "upstream_auth", cause });
}

/** What an error says of itself besides its sentence. */
interface Said {
  /** `code`, `type` and Google's `status`, lower case. */
  words: string[];
  /** The vendor's code, as it is; never a number. */
  code?: string;
  param?: string;
  /** A status written into the body; 0 when there is none. */
  status: number;
}

function describe(body: Json): Said {
  const outer = Array.isArray(body) ? body[0] : body;
  if (!isObject(outer)) return { words: [], status: 0 };
  const error = isObject(outer.error) ? outer.error : outer;
  const words = [error.code, error.type, error.status].filter((word) => typeof word === "string");
  const code =
    typeof error.code === "string" && /^[A-Za-z][\w.-]{0,63}$/.test(error.code) ? error.code : undefined;
  const param = typeof error.param === "string" && error.param.length <= 200 ? error.param : undefined;
  return { words: words.map((word) => word.toLowerCase()), code, param, status: writtenStatus(error) };
}

/** The number vendors write into the body: `code: 429`, `"code": "404"`, `status_code: 400`, `raw_status_code`. */
function writtenStatus(error: JsonObject): number {
  for (const value of [error.status_code, error.raw_status_code, error.status, error.code]) {
    const status = typeof value === "string" && /^\d{3}$/.test(value) ? Number(value) : value;
    if (typeof status === "number" && status >= 400 && status < 600) return status;
  }
  return 0;
}

function kindOf(said: Said, sentence: string, status: number): ErrorKind {
  const byStatus = KIND_BY_STATUS[status];
  if (byStatus === "upstream-auth" || (status === 400 && NO_KEY.test(sentence))) return "upstream-auth";
  // "Too many tokens" with 429 is a rate limit.
  if (TOO_LONG.test(sentence) && status < 500 && status !== 429) return "invalid-request";
  if (said.words.some((word) => lookup(KIND_BY_WORD, word) === "quota")) return "quota";
  if ((status === 429 || status === 0) && NO_QUOTA.test(sentence)) return "quota";
  if (byStatus) return byStatus;
  if (status >= 500) return "upstream";
  const byWord = said.words.map((word) => lookup(KIND_BY_WORD, word)).find((kind) => kind !== undefined);
  if (status === 0) return byWord ?? "upstream";
  return byWord === "upstream" || byWord === undefined ? "invalid-request" : byWord;
}

function codeOf(kind: ErrorKind, said: Said, sentence: string): string | undefined {
  switch (kind) {
    case "invalid-request":
      if (TOO_LONG.test(sentence)) return "context_length_exceeded";
      return NO_MODEL.test(sentence) ? "model_not_found" : ownCode(said);
    case "not-found":
      return /model|deployment/i.test(sentence) ? "model_not_found" : ownCode(said);
    // The dialect has one word for each of these.
    case "quota":
    case "rate-limited":
    case "overloaded":
    case "timeout":
      return undefined;
    default:
      return ownCode(said);
  }
}

/** DeepSeek puts the type into `code`, which says nothing more. */
function ownCode(said: Said): string | undefined {
  return said.code !== undefined && lookup(KIND_BY_WORD, said.code) === "invalid-request"
    ? undefined
    : said.code;
}

/** A vendor's 4xx that blames the request is passed on as it is (400, 422). */
function clientStatus(status: number): number {
  return status >= 400 && status < 500 ? status : 400;
}

function fallbackSentence(status: number): string {
  return status > 0
    ? `The provider failed with status ${status}.`
    : "The provider reported an error without a reason.";
}
