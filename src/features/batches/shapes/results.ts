/**
 * Results of lines for the clients of each dialect. The stored line is that of OpenAI's files; the body of its response is in the
 * format of the line, and its bytes stay as they are for readers of the same format.
 */
import { isObject, type Json, type JsonObject, parseJson } from "../../../core/json.ts";
import { scanBody, type Span } from "../../../stream/scan.ts";
import type { Dialect } from "./ids.ts";

/**
 * The answer of a line in the format of another endpoint.
 * @param from the endpoint of the line @param to the endpoint whose format the reader knows
 * @returns JSON in one line; undefined if the answer has no such form, as embeddings have none for Anthropic's clients
 */
export type Translate = (body: Uint8Array, from: string, to: string) => Uint8Array | undefined;

export interface ResultContext {
  /** Of the batch. */
  readonly endpoint: string;
  readonly translate: Translate;
}

/** What a stored line says. */
interface Stored {
  readonly id: Json;
  readonly customId: string;
  readonly status?: number;
  readonly requestId: string | null;
  /** JSON in one line. */
  readonly body?: Uint8Array;
  /** Why there was no HTTP answer. */
  readonly error?: { readonly code: string; readonly message: string };
}

/** The endpoint whose format the clients of a dialect read, for lines of another format. */
const READS: Readonly<Record<Dialect, string>> = {
  openai: "/v1/chat/completions",
  anthropic: "/v1/messages",
  google: "/v1beta/models/model:generateContent",
};

/** The dialect whose format the lines of an endpoint have. */
export function dialectOf(endpoint: string): Dialect {
  if (/:[a-zA-Z]+$/.test(endpoint)) return "google";
  return endpoint === READS.anthropic ? "anthropic" : "openai";
}

/** A line of Anthropic's results, without its line break. @throws Error if the stored line is none */
export function anthropicResult(line: Uint8Array, context: ResultContext): string {
  const stored = readStored(line);
  const id = JSON.stringify(stored.customId);
  const message = answerFor("anthropic", stored, context);
  if (message) return `{"custom_id":${id},"result":{"type":"succeeded","message":${textOf(message)}}}`;
  return `{"custom_id":${id},"result":${JSON.stringify(anthropicFailure(stored))}}`;
}

/**
 * An item of Google's inlined responses.
 * @param metadata of the request, JSON in one line; absent: it has a key alone
 * @throws Error if the stored line is none
 */
export function googleResult(line: Uint8Array, context: ResultContext, metadata?: Uint8Array): string {
  const stored = readStored(line);
  const written = metadata ? textOf(metadata) : JSON.stringify({ key: stored.customId });
  return `{${googleOutcome(stored, context)},"metadata":${written}}`;
}

/** A line of Google's files of results, without its line break. Parameters and errors as those of {@link googleResult}. */
export function googleFileLine(line: Uint8Array, context: ResultContext, metadata?: Uint8Array): string {
  const stored = readStored(line);
  const more = metadata ? `,"metadata":${textOf(metadata)}` : "";
  return `{"key":${JSON.stringify(stored.customId)},${googleOutcome(stored, context)}${more}}`;
}

function googleOutcome(stored: Stored, context: ResultContext): string {
  const response = answerFor("google", stored, context);
  return response ? `"response":${textOf(response)}` : `"error":${JSON.stringify(googleFailure(stored))}`;
}

/** A line of OpenAI's files, without its line break. @throws Error if the stored line is none */
export function openaiResult(line: Uint8Array, context: ResultContext): string {
  if (dialectOf(context.endpoint) === "openai") return textOf(line).trimEnd();
  const stored = readStored(line);
  const head = `{"id":${JSON.stringify(stored.id)},"custom_id":${JSON.stringify(stored.customId)},"response":`;
  if (stored.status === undefined) return `${head}null,"error":${JSON.stringify(stored.error ?? null)}}`;
  const answer = answerFor("openai", stored, context);
  const body = answer ? textOf(answer) : JSON.stringify(openaiFailure(stored));
  const status = stored.status < 400 && !answer ? UNREADABLE.status : stored.status;
  return `${head}{"status_code":${status},"request_id":${JSON.stringify(stored.requestId)},"body":${body}},"error":null}`;
}

/** The answer of a line that succeeded, in the reader's format. */
function answerFor(reader: Dialect, { status, body }: Stored, { endpoint, translate }: ResultContext) {
  if (status === undefined || status >= 400 || !body) return undefined;
  return dialectOf(endpoint) === reader ? body : translate(body, endpoint, READS[reader]);
}

function readStored(line: Uint8Array): Stored {
  const json = parseJson(textOf(line));
  if (!isObject(json)) throw new Error("A stored result is no JSON object.");
  const { id = null, custom_id: customId, response, error } = json;
  if (typeof customId !== "string") throw new Error("A stored result has no custom_id.");
  if (!isObject(response)) return { id, customId, requestId: null, error: errorOf(error) };
  const span = bodySpan(line);
  const requestId = typeof response["request_id"] === "string" ? response["request_id"] : null;
  return {
    ...{ id, customId, requestId },
    status: Number(response["status_code"]),
    ...(span && { body: line.subarray(span.start, span.end) }),
  };
}

function errorOf(error: Json | undefined): { code: string; message: string } {
  const { code, message } = isObject(error) ? error : {};
  return { code: String(code ?? "upstream_lost"), message: String(message ?? "The line has no result.") };
}

function bodySpan(line: Uint8Array): Span | undefined {
  const response = scanBody(line, Infinity).members.get("response")!;
  const body = scanBody(line.subarray(response.start, response.end), Infinity).members.get("body");
  return body && { start: response.start + body.start, end: response.start + body.end };
}

/** A result that has no form for the reader. */
const UNREADABLE = { status: 400, message: "The result has no form in this API; read it with `?as=line`." };

/** What went wrong, whatever the format of the line. */
function failureOf(stored: Stored): { status: number; code?: string; message: string } {
  const { status, body, error } = stored;
  if (error) return { status: CODES[error.code]?.status ?? 500, ...error };
  if (status === undefined || status < 400) return UNREADABLE;
  const json = body && parseJson(textOf(body));
  const inner = isObject(json) && isObject(json["error"]) ? json["error"] : {};
  const { message, code } = inner;
  return {
    status,
    ...(typeof code === "string" && { code }),
    message: typeof message === "string" ? message : `The provider answered with the status ${status}.`,
  };
}

interface Code {
  /** The HTTP status that says the same. */
  readonly status: number;
  /** The number of `google.rpc.Code`. */
  readonly rpc: number;
  /** The type of Anthropic's result, where it is no error. */
  readonly type?: "canceled" | "expired";
}

/** Codes of lines without an HTTP answer. */
const CODES: Readonly<Record<string, Code>> = {
  batch_expired: { status: 408, rpc: 4, type: "expired" },
  batch_cancelled: { status: 499, rpc: 1, type: "canceled" },
  insufficient_quota: { status: 429, rpc: 8 },
  guard_unavailable: { status: 503, rpc: 14 },
  upstream_lost: { status: 502, rpc: 13 },
  key_gone: { status: 401, rpc: 16 },
};

interface Words {
  readonly anthropic: string;
  /** The number of `google.rpc.Code`. */
  readonly rpc: number;
}

const INVALID: Words = { anthropic: "invalid_request_error", rpc: 3 };
const FAILED: Words = { anthropic: "api_error", rpc: 13 };

/** Words for HTTP statuses; other statuses from 400 to 499 are invalid requests, and the rest failures. */
const STATUSES: Readonly<Record<number, Words>> = {
  401: { anthropic: "authentication_error", rpc: 16 },
  402: { anthropic: "billing_error", rpc: 8 },
  403: { anthropic: "permission_error", rpc: 7 },
  404: { anthropic: "not_found_error", rpc: 5 },
  408: { anthropic: "timeout_error", rpc: 4 },
  409: { anthropic: "conflict_error", rpc: 10 },
  413: { anthropic: "request_too_large", rpc: 3 },
  429: { anthropic: "rate_limit_error", rpc: 8 },
  503: { anthropic: "overloaded_error", rpc: 14 },
  504: { anthropic: "timeout_error", rpc: 4 },
  529: { anthropic: "overloaded_error", rpc: 14 },
};

function wordsOf(status: number): Words {
  return STATUSES[status] ?? (status < 500 ? INVALID : FAILED);
}

function anthropicFailure(stored: Stored): JsonObject {
  const type = stored.error && CODES[stored.error.code]?.type;
  if (type) return { type };
  const { status, message } = failureOf(stored);
  const own = stored.body && status === stored.status ? parseJson(textOf(stored.body)) : undefined;
  if (isObject(own) && own["type"] === "error")
    return { type: "errored", error: { ...own, request_id: own["request_id"] ?? stored.requestId } };
  const error = { type: "error", error: { type: wordsOf(status).anthropic, message } };
  return { type: "errored", error: { ...error, request_id: stored.requestId } };
}

function googleFailure(stored: Stored): JsonObject {
  const { status, message } = failureOf(stored);
  const known = stored.error && CODES[stored.error.code];
  return { code: known?.rpc ?? wordsOf(status).rpc, message };
}

function openaiFailure(stored: Stored): JsonObject {
  const { status, message, code } = failureOf(stored);
  const type = wordsOf(status).anthropic;
  return { error: { message, type, param: null, code: code ?? null } };
}

function textOf({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("utf8");
}
