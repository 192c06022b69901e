/** Reads the requests of OpenAI's clients for images. */
import { invalidRequest } from "../../core/error.ts";
import type { ImageInput, ImageRequest } from "../../core/image.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import type { LeftOut } from "../../core/loss.ts";
import type { Upload, UploadPart } from "../../core/upload.ts";
import { fault, missing } from "../../formats/shared/request-fault.ts";

type Task = ImageRequest["task"];

/** Dialects of OpenAI, by what is asked. */
export const DIALECTS: Readonly<Record<Task, string>> = {
  generate: "openai-images",
  edit: "openai-image-edits",
  vary: "openai-image-variations",
};

/** More images in a call than any vendor makes. */
const MOST_IMAGES = 100;

/** Members that every dialect reads. */
const READ = new Set([
  ...["model", "prompt", "image", "images", "mask", "n", "size", "quality", "output_format", "background"],
  ...["response_format", "stream", "partial_images", "user"],
]);

export function checkFor(task: Task) {
  return (body: Json): asserts body is JsonObject => {
    if (!isObject(body)) throw invalidRequest("The request body must be a JSON object.");
    const { model, prompt, n, stream, partial_images: partials } = body;
    if (model != null && (typeof model !== "string" || model === ""))
      throw fault("model", "the name of a model");
    if (task !== "vary" && prompt == null) throw missing("prompt");
    if (prompt != null && typeof prompt !== "string") throw fault("prompt", "a text");
    checkCount(n, "n", 1, MOST_IMAGES);
    checkCount(partials, "partial_images", 0, 16);
    if (stream != null && typeof stream !== "boolean") throw fault("stream", "a boolean");
    for (const name of ["size", "quality", "response_format", "output_format", "background"])
      if (body[name] != null && typeof body[name] !== "string") throw fault(name, "a text");
    if (task !== "generate" && inputsIn(body).length === 0) throw missing("image");
  };
}

function checkCount(value: Json | undefined, name: string, least: number, most: number): void {
  if (value == null) return;
  if (!Number.isInteger(value) || (value as number) < least || (value as number) > most)
    throw fault(name, `an integer from ${least} to ${most}`);
}

/** `image` of forms; `images` of JSON. */
function inputsIn(body: JsonObject): Json[] {
  const value = body["image"] ?? body["images"];
  if (value == null) return [];
  return Array.isArray(value) ? value : [value];
}

export function decodeFor(task: Task) {
  return (body: JsonObject, upload?: Upload): ImageRequest => {
    const { mask, n, stream, partial_images: partials, response_format: wants } = body;
    const files = new Files(upload);
    const images = inputsIn(body).map((value) => files.inputOf(value));
    return {
      model: (body["model"] ?? DEFAULTS[task]) as string,
      dialect: DIALECTS[task],
      task,
      prompt: (body["prompt"] ?? "") as string,
      images,
      ...(mask != null && { mask: files.inputOf(Array.isArray(mask) ? mask[0]! : mask) }),
      count: (n ?? 1) as number,
      ...textOf(body, "size", "size"),
      ...textOf(body, "quality", "quality"),
      ...textOf(body, "output_format", "format"),
      ...textOf(body, "background", "background"),
      ...((wants === "url" || wants === "b64_json") && { wants }),
      partials: stream === true ? ((partials ?? 0) as number) : 0,
      ...(stream === true && { stream: true }),
      own: body,
      leftOut: leftOutOf(body),
    };
  };
}

/** Where a request names no model, as OpenAI's clients may. */
export const DEFAULTS: Readonly<Record<Task, string>> = {
  generate: "gpt-image-1.5",
  edit: "gpt-image-1.5",
  vary: "dall-e-2",
};

function textOf(body: JsonObject, name: string, as: string): Record<string, string> {
  const value = body[name];
  return typeof value === "string" && value !== "auto" ? { [as]: value } : {};
}

function leftOutOf(body: JsonObject): LeftOut[] {
  return Object.keys(body)
    .filter((name) => !READ.has(name) && body[name] !== null)
    .map((path) => ({ loss: "unknown", path }));
}

/** Finds the parts of files by their outlines. */
class Files {
  readonly #upload: Upload | undefined;
  readonly #left: UploadPart[];

  constructor(upload: Upload | undefined) {
    this.#upload = upload;
    this.#left = upload ? upload.parts.filter(({ text }) => text === undefined) : [];
  }

  inputOf(value: Json): ImageInput {
    if (typeof value === "string") return { url: value };
    if (!isObject(value)) return {};
    const { image_url: url, filename, type, bytes, sha256 } = value;
    if (typeof url === "string") return { url };
    if (isObject(url) && typeof url["url"] === "string") return { url: url["url"] };
    const part = this.#left.find((one) => one.sha256 === sha256 && one.length === bytes);
    const upload = this.#upload;
    return {
      ...(typeof filename === "string" && { filename }),
      ...(typeof type === "string" && { type }),
      ...(typeof bytes === "number" && { bytes }),
      ...(typeof sha256 === "string" && { sha256 }),
      ...(part && upload && { read: () => upload.read(part) }),
    };
  }
}
