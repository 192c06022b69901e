/** What images are charged for. */
import type { Units, Usage } from "../../core/events.ts";
import type { ImageRequest } from "../../core/image.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import type { KindUsage } from "../../core/kind.ts";
import type { RequestSize } from "../../core/request-size.ts";
import { IMAGE_TOKENS } from "../../core/tokens/image-tokens.ts";
import { MostTokens } from "../../core/tokens/most-tokens.ts";

/** The most output tokens of an image by quality: those of the largest size that OpenAI has a price for. */
const TOKENS_BY_QUALITY: Readonly<Record<string, number>> = { low: 408, medium: 1584, high: 6240 };

/** Of an image whose quality the model chooses, or that is better than `high`. */
const MOST_TOKENS = 16_384;

/** Tokens that an image in the input has at most where the vendor looks at it in detail. */
const INPUT_TOKENS = 4 * IMAGE_TOKENS;

/** Each partial image is charged so. Tokens. */
const PARTIAL_TOKENS = 100;

/** The name of the unit: `image-1024x1024-hd`. A price for `image-1024x1024` or `image` holds for it, too. */
export function unitOf(size?: string, quality?: string): string {
  const chosen = [size, quality].filter((one) => one !== undefined && one !== "auto" && one !== "");
  return ["image", ...chosen].join("-").replace(/[^a-zA-Z0-9_-]/g, "");
}

export function unitsOf(count: number, size?: string, quality?: string): Units {
  return { [unitOf(size, quality)]: count };
}

/** Tokens and images: the price of the model decides which are charged. The output of images is seen only when it is complete. */
export function sizeOf(request: ImageRequest): RequestSize {
  const { prompt, images, mask, count, size, quality, partials } = request;
  const text = new MostTokens();
  text.next();
  text.add(prompt);
  const inputs = images.length + (mask ? 1 : 0);
  const each = TOKENS_BY_QUALITY[quality ?? ""] ?? MOST_TOKENS;
  return {
    ...{ text, structure: 8, mediaTokens: inputs * INPUT_TOKENS, hasTools: false, hasServerTools: false },
    ...{ maxTokens: each + partials * PARTIAL_TOKENS, choices: count, opaque: "imageOut" },
    units: unitsOf(count, size, quality),
  };
}

const number = (value: Json | undefined) => (typeof value === "number" ? value : undefined);

/** The counts of an answer or of the last event of a stream, by OpenAI's names. @returns undefined: the vendor counted nothing */
export function tokensOf({ usage, svg_usage: svg }: JsonObject): KindUsage | undefined {
  const beside = isObject(svg) ? besideOf(svg) : undefined;
  const all = isObject(usage) ? countsOf(usage) : undefined;
  if (!all && !beside) return undefined;
  return { ...all, ...(beside && { beside: [beside] }) };
}

function countsOf(usage: JsonObject): KindUsage | undefined {
  const input = number(usage["input_tokens"]);
  const output = number(usage["output_tokens"]);
  if (input === undefined || output === undefined) return undefined;
  const { input_tokens_details: into, output_tokens_details: out } = usage;
  const cached = isObject(into) ? (number(into["cached_tokens"]) ?? 0) : 0;
  const imageIn = isObject(into) ? number(into["image_tokens"]) : undefined;
  // Without details all output is the image.
  const imageOut = isObject(out) ? (number(out["image_tokens"]) ?? output) : output;
  return {
    ...{ input: Math.max(0, input - cached), output, imageOut },
    ...(cached > 0 && { cacheRead: cached }),
    ...(imageIn !== undefined && { imageIn }),
  };
}

/** What the model that draws vectors used, at its own price. */
function besideOf(svg: JsonObject): NonNullable<Usage["beside"]>[number] | undefined {
  const input = number(svg["input_tokens"]);
  const output = number(svg["output_tokens"]);
  if (input === undefined || output === undefined) return undefined;
  const model = svg["model"];
  return {
    ...{ input, output, cacheRead: 0, cacheWrite: 0 },
    ...(typeof model === "string" && { model }),
  };
}
