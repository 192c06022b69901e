/** Makers of images whose requests differ from OpenAI's. */
import type { CodecContext } from "../../core/context.ts";
import type { ImageAnswer, ImageRequest, MadeImage } from "../../core/image.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import type { KindUsage } from "../../core/kind.ts";
import type { KindDialect } from "../../core/model-kind.ts";
import { longOf, readSpliced, type SplicedJson } from "../../stream/spliced-json.ts";
import { assertInline, assertTask, inlineOf, LIKE_OPENAI } from "./dialects.ts";
import { unitsOf } from "./usage.ts";

type Dialect = KindDialect<ImageRequest, ImageAnswer>;

/** Ratios that Google's and xAI's models draw. */
const RATIOS = ["1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9"];
const FEW_RATIOS = ["1:1", "3:4", "4:3", "9:16", "16:9"];

const ratioValue = (ratio: string) => {
  const [width = 1, height = 1] = ratio.split(":").map(Number);
  return width / height;
};

/** The nearest ratio of a size; reports what the size loses. */
function ratioOf(
  { size }: ImageRequest,
  ratios: readonly string[],
  context: CodecContext,
): string | undefined {
  if (size === undefined) return undefined;
  const [, width, height] = /^(\d+)x(\d+)$/.exec(size) ?? [];
  if (width === undefined || height === undefined) {
    context.reportLoss("dropped", "size", "the provider has no such size");
    return undefined;
  }
  const wanted = Math.log(Number(width) / Number(height));
  const away = (ratio: string) => Math.abs(Math.log(ratioValue(ratio)) - wanted);
  const nearest = ratios.reduce((best, ratio) => (away(ratio) < away(best) ? ratio : best));
  context.reportLoss("converted", "size", `the provider draws at the ratio ${nearest}`);
  return nearest;
}

/** Reports members that a maker has no place for. */
function drop(request: ImageRequest, names: readonly (keyof typeof MEMBERS)[], context: CodecContext): void {
  for (const name of names)
    if (request[name] !== undefined && request[name] !== 0)
      context.reportLoss("dropped", MEMBERS[name], "the provider has no place for it");
}

const MEMBERS = {
  quality: "quality",
  format: "output_format",
  background: "background",
  partials: "partial_images",
  size: "size",
  mask: "mask",
} as const;

function numberIn(object: Json | undefined, name: string): number | undefined {
  const value = isObject(object) ? object[name] : undefined;
  return typeof value === "number" ? value : undefined;
}

/** `:generateContent` of a Gemini model that draws. */
const gemini: Dialect = {
  ...LIKE_OPENAI,
  id: "gemini-images",
  answersWith: () => "json",
  async encodeRequest(request, context) {
    assertTask(request, ["generate", "edit"], context);
    drop(request, ["quality", "format", "background", "partials", "mask"], context);
    if (request.count > 1)
      context.reportLoss("clamped", "n", "the provider makes one image for each request");
    assertInline(request.images);
    const inputs = await Promise.all(request.images.map(inlineOf));
    const ratio = ratioOf(request, RATIOS, context);
    const parts = [
      { text: request.prompt },
      ...inputs.map(({ type, data }) => ({ inlineData: { mimeType: type, data } })),
    ];
    return {
      contents: [{ role: "user", parts }],
      generationConfig: {
        responseModalities: ["IMAGE"],
        ...(ratio !== undefined && { imageConfig: { aspectRatio: ratio } }),
      },
    };
  },
  readAnswer: (text, request) => readGemini(Buffer.from(text), request),
  readBytes: readGemini,
};

function readGemini(bytes: Uint8Array, request: ImageRequest): ImageAnswer | undefined {
  const read = readSpliced(bytes);
  if (!read || !isObject(read.value)) return undefined;
  const { candidates, usageMetadata, promptFeedback } = read.value;
  // A prompt that the vendor blocks has no candidates.
  if (!Array.isArray(candidates) && !isObject(promptFeedback)) return undefined;
  const images = (Array.isArray(candidates) ? candidates : []).flatMap((candidate) =>
    partsOf(candidate, read),
  );
  return { images, usage: { ...geminiUsage(usageMetadata), units: unitsOf(images.length, request.size) } };
}

function partsOf(candidate: Json, read: SplicedJson): MadeImage[] {
  const content = isObject(candidate) ? candidate["content"] : undefined;
  const parts = isObject(content) && Array.isArray(content["parts"]) ? content["parts"] : [];
  return parts.flatMap((part) => {
    const inline = isObject(part) && part["thought"] !== true ? part["inlineData"] : undefined;
    return isObject(inline) ? madeOf(inline["data"], inline["mimeType"], read) : [];
  });
}

function madeOf(data: Json | undefined, type: Json | undefined, read: SplicedJson): MadeImage[] {
  if (typeof data !== "string") return [];
  return [{ base64: longOf(data, read) ?? data, ...(typeof type === "string" && { type }) }];
}

function geminiUsage(meta: Json | undefined): KindUsage | undefined {
  const input = numberIn(meta, "promptTokenCount");
  const answered = numberIn(meta, "candidatesTokenCount");
  if (input === undefined || answered === undefined) return undefined;
  const reasoning = numberIn(meta, "thoughtsTokenCount") ?? 0;
  return {
    ...{ input, output: answered + reasoning, reasoning },
    imageIn: imagesIn(meta, "promptTokensDetails") ?? 0,
    imageOut: imagesIn(meta, "candidatesTokensDetails") ?? answered,
  };
}

function imagesIn(meta: Json | undefined, name: string): number | undefined {
  const details = isObject(meta) ? meta[name] : undefined;
  if (!Array.isArray(details)) return undefined;
  const own = details.filter((one) => isObject(one) && one["modality"] === "IMAGE");
  return own.reduce((sum: number, one) => sum + (numberIn(one, "tokenCount") ?? 0), 0);
}

/** `:predict` of Imagen. */
const imagen: Dialect = {
  ...LIKE_OPENAI,
  id: "imagen",
  answersWith: () => "json",
  encodeRequest(request, context) {
    assertTask(request, ["generate"], context);
    drop(request, ["quality", "background", "partials"], context);
    const ratio = ratioOf(request, FEW_RATIOS, context);
    return {
      instances: [{ prompt: request.prompt }],
      parameters: {
        sampleCount: request.count,
        ...(ratio !== undefined && { aspectRatio: ratio }),
        ...(request.format !== undefined && { outputOptions: { mimeType: `image/${request.format}` } }),
      },
    };
  },
  readAnswer: (text, request) => readImagen(Buffer.from(text), request),
  readBytes: readImagen,
};

function readImagen(bytes: Uint8Array, request: ImageRequest): ImageAnswer | undefined {
  const read = readSpliced(bytes);
  if (!read || !isObject(read.value)) return undefined;
  const { predictions = [] } = read.value;
  if (!Array.isArray(predictions)) return undefined;
  const images = predictions.flatMap((one) =>
    isObject(one) ? madeOf(one["bytesBase64Encoded"], one["mimeType"], read) : [],
  );
  return { images, usage: { units: unitsOf(images.length, request.size) } };
}

/** xAI's, which draws at ratios. */
const xai: Dialect = {
  ...LIKE_OPENAI,
  id: "xai-images",
  answersWith: () => "json",
  async encodeRequest(request, context) {
    assertTask(request, ["generate"], context);
    drop(request, ["quality", "format", "background", "partials"], context);
    const ratio = ratioOf(request, RATIOS, context);
    return {
      ...{ model: context.target.model, prompt: request.prompt, n: request.count },
      ...(ratio !== undefined && { aspect_ratio: ratio }),
      ...(request.wants !== undefined && { response_format: request.wants }),
    };
  },
};

/** Together's, with width and height. */
const together: Dialect = {
  ...LIKE_OPENAI,
  id: "together-images",
  answersWith: () => "json",
  async encodeRequest(request, context) {
    assertTask(request, ["generate", "edit"], context);
    drop(request, ["quality", "background", "partials", "mask"], context);
    const [, width, height] = /^(\d+)x(\d+)$/.exec(request.size ?? "") ?? [];
    if (request.size !== undefined && width === undefined) drop(request, ["size"], context);
    const [first, ...others] = request.images;
    if (others.length > 0) context.reportLoss("clamped", "image", "the provider takes one image");
    assertInline(request.images.slice(0, 1));
    return {
      ...{ model: context.target.model, prompt: request.prompt, n: request.count },
      ...(width !== undefined && { width: Number(width), height: Number(height) }),
      ...(request.format !== undefined && {
        output_format: request.format === "jpg" ? "jpeg" : request.format,
      }),
      ...(request.wants !== undefined && { response_format: request.wants === "url" ? "url" : "base64" }),
      ...(first && { image_url: await urlOf(first) }),
    };
  },
};

async function urlOf(input: ImageRequest["images"][number]): Promise<string> {
  if (input.url !== undefined) return input.url;
  const { type, data } = await inlineOf(input);
  return `data:${type};base64,${data}`;
}

export const makerDialects: readonly Dialect[] = [gemini, imagen, xai, together];
