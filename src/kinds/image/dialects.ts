/** How providers are asked for images. */
import type { CodecContext } from "../../core/context.ts";
import { invalidRequest } from "../../core/error.ts";
import type { ImageAnswer, ImageInput, ImageRequest } from "../../core/image.ts";
import type { JsonObject } from "../../core/json.ts";
import type { KindDialect } from "../../core/model-kind.ts";
import { decodeError } from "../../formats/shared/upstream-error.ts";
import { readAnswer } from "./answer.ts";
import { DIALECTS } from "./request.ts";
import { sizeOf } from "./usage.ts";
import { watch } from "./watch.ts";

type Dialect = KindDialect<ImageRequest, ImageAnswer>;

/** What every host like OpenAI has. */
export const LIKE_OPENAI = {
  sizeOf,
  readAnswer: (text: string, request: ImageRequest) => readAnswer(Buffer.from(text), request),
  readBytes: readAnswer,
  decodeError,
  isErrorBody: ({ error, message, detail }: JsonObject) => (error ?? message ?? detail) !== undefined,
  requestHeaders: ["x-client-request-id", "openai-organization", "openai-project"],
  answerHeaders: ["x-ratelimit-*", "openai-processing-ms", "retry-after", "retry-after-ms", "x-should-retry"],
  answersWith: ({ stream }: ImageRequest, isNative: boolean) => (isNative && stream ? "events" : "json"),
  watch,
} as const;

/** @throws GatewayError for what the host has no endpoint for */
export function assertTask(
  request: ImageRequest,
  can: readonly ImageRequest["task"][],
  context: CodecContext,
): void {
  if (can.includes(request.task)) return;
  const what = request.task === "vary" ? "makes no variations of images" : "edits no images";
  throw invalidRequest(
    `The provider ${context.target.provider} ${what} with the model \`${context.target.model}\`.`,
    "model",
    "unsupported_value",
  );
}

/** Files in a request of JSON, all together. Bytes. */
const MOST_INLINE = 64 * 1024 * 1024;

/** @throws GatewayError `invalid-request` for files that are too long for a request of JSON */
export function assertInline(inputs: readonly ImageInput[]): void {
  const sum = inputs.reduce((total, { bytes = 0 }) => total + bytes, 0);
  if (sum > MOST_INLINE)
    throw invalidRequest(
      `The images have ${sum} bytes; this provider takes at most ${MOST_INLINE}.`,
      "image",
    );
}

/** Base64 of an image and its media type. @throws GatewayError for an address, which weir does not fetch */
export async function inlineOf(input: ImageInput): Promise<{ type: string; data: string }> {
  const { url, read, type } = input;
  const [, own, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url ?? "") ?? [];
  if (own !== undefined && data !== undefined) return { type: own, data };
  if (!read)
    throw invalidRequest("This provider takes images as files or data URIs.", "image", "unsupported_value");
  const bytes = await read();
  return { type: typeOf(bytes, type), data: Buffer.from(bytes).toString("base64") };
}

const MAGIC: readonly [type: string, at: number, bytes: string][] = [
  ["image/png", 0, "89504e470d0a1a0a"],
  ["image/jpeg", 0, "ffd8ff"],
  ["image/gif", 0, "47494638"],
  ["image/webp", 8, "57454250"],
];

/** The declared type, and that of the bytes where none is declared. */
function typeOf(bytes: Uint8Array, declared = "application/octet-stream"): string {
  if (declared !== "application/octet-stream") return declared;
  const found = MAGIC.find(
    ([, at, magic]) => Buffer.from(bytes.subarray(at, at + magic.length / 2)).toString("hex") === magic,
  );
  return found?.[0] ?? "image/png";
}

/** Members of OpenAI's request that hosts like it know. */
function likeOpenai(request: ImageRequest, model: string): JsonObject {
  const { prompt, count, size, quality, format, background, wants } = request;
  return {
    model,
    ...(prompt !== "" && { prompt }),
    ...(count !== 1 && { n: count }),
    ...(size !== undefined && { size }),
    ...(quality !== undefined && { quality }),
    ...(format !== undefined && { output_format: format }),
    ...(background !== undefined && { background }),
    ...(wants !== undefined && { response_format: wants }),
  };
}

/** JSON, with files as data URIs. */
async function encodeEdit(request: ImageRequest, context: CodecContext): Promise<JsonObject> {
  assertTask(request, ["edit"], context);
  const inputs = [...request.images, ...(request.mask ? [request.mask] : [])];
  assertInline(inputs);
  const [first, ...rest] = await Promise.all(inputs.map(referenceOf));
  const all = [first!, ...rest];
  const mask = request.mask && all.pop();
  return { ...likeOpenai(request, context.target.model), images: all, ...(mask && { mask }) };
}

async function referenceOf(input: ImageInput): Promise<JsonObject> {
  if (input.url !== undefined) return { image_url: input.url };
  const { type, data } = await inlineOf(input);
  return { image_url: `data:${type};base64,${data}` };
}

export const openaiDialects: readonly Dialect[] = [
  {
    ...LIKE_OPENAI,
    id: DIALECTS.generate,
    encodeRequest(request, context) {
      assertTask(request, ["generate"], context);
      return likeOpenai(request, context.target.model);
    },
  },
  { ...LIKE_OPENAI, id: DIALECTS.edit, encodeRequest: encodeEdit },
  {
    ...LIKE_OPENAI,
    id: DIALECTS.vary,
    encodeRequest(request, context) {
      // A host gets the client's form.
      assertTask(request, [], context);
      return {};
    },
  },
];
