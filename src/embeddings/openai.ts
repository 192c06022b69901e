/** The dialect of OpenAI (`POST /embeddings`), which most hosts speak, some with other names for the options. */
import type { CodecContext } from "../core/context.ts";
import type { EmbedDialect, ObservedEmbeddings } from "../core/embed-dialect.ts";
import type { EmbedAnswer, EmbedEndpoint, EmbedRequest, EmbedUsage } from "../core/embed.ts";
import { GatewayError } from "../core/error.ts";
import type { HeaderReader } from "../core/headers.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { isObject, parseJson } from "../core/json.ts";
import { fromBase64 } from "../formats/shared/floats.ts";
import { count, reportedCost } from "../formats/shared/token-counts.ts";
import { decodeError as decodeVendorError, decodeErrorBody } from "../formats/shared/upstream-error.ts";
import type { OptionNames } from "./options.ts";
import { dropExtra, encodeOptions, wordFor } from "./options.ts";
import { vector, vectorsOf } from "./vectors.ts";

const NAMES: OptionNames = { dimensions: "dimensions", inputType: "input_type", user: "user" };

function encodeRequest(request: EmbedRequest, endpoint: EmbedEndpoint, context: CodecContext): JsonObject {
  if (!context.sameFormat) dropExtra(request, context);
  return {
    model: context.target.model,
    input: request.inputs as Json[],
    ...(context.sameFormat && request.extra),
    ...encodeOptions(request, endpoint, context, NAMES),
    // Base64 is a third of the size of numbers, and faster to read. Every host answers with numbers if nothing is asked.
    ...((endpoint.base64 === true || endpoint.base64 === "only") && { encoding_format: "base64" }),
  };
}

function readAnswer(
  body: JsonObject,
  _headers: HeaderReader,
  endpoint: EmbedEndpoint,
): EmbedAnswer | undefined {
  if (body.error) throw new GatewayError("upstream", decodeErrorBody(body).message);
  const { data, model } = body;
  if (!Array.isArray(data) || !data.every(isObject)) return undefined;
  const isNumbered = data.every(({ index }) => typeof index === "number");
  const inOrder = isNumbered ? data.toSorted((a, b) => (a.index as number) - (b.index as number)) : data;
  const vectors = vectorsOf(inOrder, (item) => readVector((item as JsonObject).embedding, endpoint));
  return vectors && { vectors, usage: readUsage(body.usage), ...(typeof model === "string" && { model }) };
}

function readVector(value: Json | undefined, { base64 }: EmbedEndpoint): ArrayLike<number> | undefined {
  if (typeof value !== "string") return vector(value);
  return base64 === "int8" ? new Int8Array(Buffer.from(value, "base64")) : fromBase64(value);
}

/** Voyage says `total_tokens` only. */
function readUsage(usage: Json | undefined): EmbedUsage | undefined {
  if (!isObject(usage)) return undefined;
  const input = count(usage.prompt_tokens) ?? count(usage.total_tokens);
  const reported = reportedCost(usage);
  return input === undefined ? undefined : { input, ...(reported !== undefined && { reported }) };
}

/** Whether the host has the names, the words and the encoding that the client uses. */
function fits(request: EmbedRequest, endpoint: EmbedEndpoint): boolean {
  const { dimensions, inputType, user, encoding } = request;
  const has = (name: keyof OptionNames) => (endpoint.members?.[name] ?? NAMES[name]) === NAMES[name];
  const { base64 = false } = endpoint;
  return (
    (encoding === "float" ? typeof base64 === "boolean" : base64 === true || base64 === "only") &&
    (dimensions === undefined || has("dimensions")) &&
    (user === undefined || has("user")) &&
    (inputType === undefined || (has("inputType") && wordFor(inputType, endpoint.inputTypes) === inputType))
  );
}

function observe(bytes: Uint8Array): ObservedEmbeddings | undefined {
  const body = parseJson(withoutVectors(bytes));
  if (!isObject(body) || body.error || !Array.isArray(body.data)) return undefined;
  const { data } = body;
  const isBase64 = isObject(data[0]) && typeof data[0].embedding === "string";
  const isVector = (item: Json) =>
    isObject(item) && (isBase64 ? item.embedding === "" : Array.isArray(item.embedding));
  if (!data.every(isVector)) return undefined;
  const usage = readUsage(body.usage);
  return {
    count: data.length,
    encoding: isBase64 ? "base64" : "float",
    ...(usage && { usage, ...completed(body.usage as JsonObject, usage) }),
  };
}

/** Clients of OpenAI read `prompt_tokens`. Where it is there, the bytes pass as they are. */
function completed(given: JsonObject, { input }: EmbedUsage): Pick<ObservedEmbeddings, "completed"> {
  if (count(given.prompt_tokens) !== undefined) return {};
  return { completed: { usage: { ...given, prompt_tokens: input } } };
}

const VECTOR = Buffer.from('"embedding"');
const COLON = 0x3a;
const QUOTE = 0x22;
const OPEN_BRACKET = 0x5b;

/**
 * The JSON text with each vector emptied: nearly all of an answer is vectors, and to search for their ends costs a hundredth of
 * parsing them. The quotes around a name cannot occur inside a string, where they are escaped.
 */
function withoutVectors(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let short = "";
  let from = 0;
  for (let at = text.indexOf(VECTOR); at >= 0; at = text.indexOf(VECTOR, at + 1)) {
    const colon = skipSpace(text, at + VECTOR.length);
    // `"object": "embedding"` is a value and no name.
    if (text[colon] !== COLON) continue;
    const start = skipSpace(text, colon + 1);
    const opening = text[start];
    if (opening !== QUOTE && opening !== OPEN_BRACKET) continue;
    const end = text.indexOf(opening === QUOTE ? '"' : "]", start + 1);
    if (end < 0) break;
    short += text.toString("utf8", from, start + 1);
    from = at = end;
  }
  return short + text.toString("utf8", from);
}

function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from;
  while (bytes[at]! <= 0x20) at++;
  return at;
}

/** llama.cpp answers 500 to an input that is longer than its batch; a retry would fail in the same way. */
const TOO_LARGE = /input .*is too large to process/;

function decodeError(status: number, headers: HeaderReader, body: string): GatewayError {
  const error = decodeVendorError(status, headers, body);
  if (status < 500 || !TOO_LARGE.test(error.message)) return error;
  return new GatewayError("invalid-request", error.message, { code: "context_length_exceeded" });
}

export const openaiEmbeddings: EmbedDialect = {
  id: "embeddings",
  maxInputs: 2048,
  tokenIds: true,
  encodeRequest,
  readAnswer,
  native: {
    fits,
    observe,
    // Clients find no message in the `detail` of FastAPI servers.
    isErrorBody: ({ error, message }) =>
      isObject(error) || typeof error === "string" || typeof message === "string",
  },
  decodeError,
  requestHeaders: ["x-client-request-id"],
  answerHeaders: [
    "x-ratelimit-*",
    "openai-processing-ms",
    "openai-model",
    "retry-after",
    "retry-after-ms",
    "x-should-retry",
  ],
};
