/** Reads the items of the tool `image_generation`. */
import type { JsonObject } from "../../core/json.ts";
import { identifyMedia, type Media } from "../../core/media.ts";
import { text } from "../shared/read.ts";

/** The image of an `image_generation_call`; `undefined` while it has none. xAI sends no `output_format`. */
export function readImageCall({ result, output_format: format }: JsonObject): Media | undefined {
  const data = text(result) ?? "";
  return data === "" ? undefined : identifyMedia(`image/${text(format) ?? "png"}`, data);
}
