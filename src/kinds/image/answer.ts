/** Writes and reads answers with images as OpenAI's clients know them. */
import type { Frame } from "../../core/frame.ts";
import type { ImageAnswer, ImageRequest, MadeImage } from "../../core/image.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import type { AnswerFacts, WrittenAnswer } from "../../core/model-kind.ts";
import { JsonSplicer, longOf, readSpliced, type SplicedJson } from "../../stream/spliced-json.ts";
import { tokensOf, unitsOf } from "./usage.ts";

const TEXTS = ["size", "quality", "background"] as const;

function commonOf(answer: ImageAnswer): JsonObject {
  return {
    ...Object.fromEntries(
      TEXTS.flatMap((name) => (answer[name] === undefined ? [] : [[name, answer[name]]])),
    ),
    ...(answer.format !== undefined && { output_format: answer.format }),
  };
}

function usageOf({ usage }: ImageAnswer): JsonObject {
  if (usage?.output === undefined) return {};
  const { input = 0, output, imageIn = 0, imageOut = output, cacheRead = 0 } = usage;
  const all = input + cacheRead;
  return {
    usage: {
      ...{ input_tokens: all, output_tokens: output, total_tokens: all + output },
      input_tokens_details: { text_tokens: Math.max(0, all - imageIn), image_tokens: imageIn },
      output_tokens_details: { text_tokens: output - imageOut, image_tokens: imageOut },
    },
  };
}

export function writeAnswer(answer: ImageAnswer, _request: ImageRequest, facts: AnswerFacts): WrittenAnswer {
  const splicer = new JsonSplicer();
  const data = answer.images.map(({ base64, url, revisedPrompt }) => ({
    ...(base64 !== undefined && { b64_json: splicer.mark(base64) }),
    ...(url !== undefined && { url }),
    ...(revisedPrompt !== undefined && { revised_prompt: revisedPrompt }),
  }));
  const body = { created: facts.created, ...commonOf(answer), data, ...usageOf(answer) };
  return { type: "application/json", body: splicer.write(body) };
}

/** Partial images, and one event that completes the stream. */
export function writeEvents(answer: ImageAnswer, { task }: ImageRequest, facts: AnswerFacts): Frame[] {
  const name = task === "edit" ? "image_edit" : "image_generation";
  const common = {
    ...{ created_at: facts.created, size: "auto", quality: "auto", background: "auto", output_format: "png" },
    ...commonOf(answer),
  };
  const frame = (type: string, rest: JsonObject): Frame => ({
    event: `${name}.${type}`,
    data: JSON.stringify({ type: `${name}.${type}`, ...rest }),
  });
  const partials = (answer.partials ?? []).map((b64, index) =>
    frame("partial_image", { b64_json: b64, partial_image_index: index, ...common }),
  );
  const whole = answer.images.map(({ base64 = "", url }) =>
    frame("completed", {
      b64_json: typeof base64 === "string" ? base64 : Buffer.from(base64).toString("latin1"),
      ...(url !== undefined && { url }),
      ...common,
      ...usageOf(answer),
    }),
  );
  return [...partials, ...whole];
}

/** An answer as OpenAI and hosts like it send it. @returns undefined for another body */
export function readAnswer(bytes: Uint8Array, request: ImageRequest): ImageAnswer | undefined {
  const read = readSpliced(bytes);
  if (!read || !isObject(read.value) || !Array.isArray(read.value["data"])) return undefined;
  const body = read.value;
  const images = (body["data"] as Json[]).map((item) => imageOf(item, read));
  if (images.includes(undefined)) return undefined;
  const given = (name: string) => (typeof body[name] === "string" ? (body[name] as string) : undefined);
  const size = given("size");
  const quality = given("quality");
  const format = given("output_format");
  const background = given("background");
  return {
    images: images as MadeImage[],
    ...(size !== undefined && { size }),
    ...(quality !== undefined && { quality }),
    ...(format !== undefined && { format }),
    ...(background !== undefined && { background }),
    usage: {
      ...tokensOf(body),
      units: unitsOf(images.length, size ?? request.size, quality ?? request.quality),
    },
  };
}

function imageOf(item: Json, read: SplicedJson): MadeImage | undefined {
  if (!isObject(item)) return undefined;
  const { b64_json: b64, url, revised_prompt: prompt } = item;
  const base64 = typeof b64 === "string" ? (longOf(b64, read) ?? b64) : undefined;
  if (base64 === undefined && typeof url !== "string") return undefined;
  return {
    ...(base64 !== undefined && { base64 }),
    ...(typeof url === "string" && { url: textOf(url, read) }),
    ...(typeof prompt === "string" && { revisedPrompt: textOf(prompt, read) }),
  };
}

/** A text that may be long: a data URI, a prompt of thousands of words. */
function textOf(text: string, read: SplicedJson): string {
  const long = longOf(text, read);
  return long ? (JSON.parse(`"${Buffer.from(long).toString()}"`) as string) : text;
}
