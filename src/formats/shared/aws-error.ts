/** Errors of AWS: failed statuses, and exceptions inside a stream. */
import type { GatewayError } from "../../core/error.ts";
import type { HeaderReader } from "../../core/headers.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { isObject, parseJson } from "../../core/json.ts";
import { text } from "./read.ts";
import { decodeError as decodeVendorError } from "./upstream-error.ts";

/** The meaning of the name of an exception, as status and, where the status does not decide, as a word that weir knows. */
interface Meaning {
  status: number;
  word?: string;
}

/** Names of exceptions in lower case: streams write them `throttlingException`, headers `ThrottlingException`. */
const MEANINGS: ReadonlyMap<string, Meaning> = new Map(
  Object.entries<Meaning>({
    accessdeniedexception: { status: 403 },
    conflictexception: { status: 409 },
    expiredtokenexception: { status: 403 },
    internalserverexception: { status: 500 },
    invalidsignatureexception: { status: 403 },
    missingauthenticationtoken: { status: 403 },
    modelerrorexception: { status: 424 },
    modelnotreadyexception: { status: 503 },
    modelstreamerrorexception: { status: 424 },
    modeltimeoutexception: { status: 408 },
    resourcenotfoundexception: { status: 404 },
    servicequotaexceededexception: { status: 429, word: "insufficient_quota" },
    serviceunavailableexception: { status: 503 },
    throttlingexception: { status: 429 },
    unrecognizedclientexception: { status: 403 },
    validationexception: { status: 400 },
  }),
);

const TOKENS_PER_DAY = /too many tokens per day/i;
const NO_MODEL = /model identifier is invalid/i;
const NEEDS_PROFILE = /on-demand throughput isn.t supported/i;
const USE_PROFILE =
  "Use the id of an inference profile as the model: the same id with the prefix of your geography, such as us. or eu.";

/** The header with the exception of a failed answer. */
const TYPE_HEADER = "x-amzn-errortype";

/** Whether a failed answer is one of AWS. */
export function isAwsError(headers: HeaderReader): boolean {
  return headers.has(TYPE_HEADER);
}

/** Whether an error in a stream is an exception of AWS: `{"type": "throttlingException", "message"}`. */
export function isAwsException(error: Json | undefined): boolean {
  return isObject(error) && MEANINGS.has(nameOf(text(error.type)));
}

/** Decodes an answer with a failed status. Its exception is in `x-amzn-errortype` or in `__type` of the body. */
export function decodeAwsError(status: number, headers: HeaderReader, body: string): GatewayError {
  const parsed = parseJson(body);
  const name = nameOf(headers.get(TYPE_HEADER) ?? text(isObject(parsed) ? parsed.__type : undefined));
  const meaning = MEANINGS.get(name);
  const sentence = isObject(parsed) ? messageOf(parsed) : undefined;
  if (sentence === undefined || !isObject(parsed))
    return decodeVendorError(meaning?.status ?? status, headers, body);
  return decodeSentence(sentence, meaning ?? { status }, headers, parsed);
}

/** Decodes an `exception` or `error` frame of a stream: `{"type", "message"}`. */
export function decodeAwsException(data: Json | undefined): GatewayError {
  const { type, message } = isObject(data) ? data : {};
  const sentence = text(message) || "The provider reported an error without a reason.";
  const meaning = MEANINGS.get(nameOf(text(type))) ?? { status: 500 };
  return decodeSentence(sentence, meaning, new Headers(), isObject(data) ? { ...data, type: undefined } : {});
}

function decodeSentence(
  sentence: string,
  { status, word }: Meaning,
  headers: HeaderReader,
  body: JsonObject,
): GatewayError {
  const type = word ?? (TOKENS_PER_DAY.test(sentence) ? "insufficient_quota" : undefined);
  const message = NEEDS_PROFILE.test(sentence) ? `${sentence} ${USE_PROFILE}` : sentence;
  const known = type === undefined ? { ...body, message } : { message, type };
  const error = decodeVendorError(status, headers, JSON.stringify(known));
  if (error.kind === "invalid-request" && NO_MODEL.test(sentence))
    return error.with({ code: "model_not_found" });
  return isPermanent(body) ? error.with({ shouldRetry: false }) : error;
}

/** Whether the model itself refused the request, as `ModelErrorException` says. */
function isPermanent({ originalStatusCode: status }: JsonObject): boolean {
  return typeof status === "number" && status >= 400 && status < 500 && status !== 429;
}

/** `ValidationException:http://internal.amazon.com/…` and `com.amazon.bedrock#ValidationException` → `validationexception`. */
function nameOf(type: string | undefined): string {
  const [name = ""] = (type ?? "").split(":", 1);
  return name.slice(name.lastIndexOf("#") + 1).toLowerCase();
}

function messageOf({ message, Message }: JsonObject): string | undefined {
  return text(message) ?? text(Message);
}
