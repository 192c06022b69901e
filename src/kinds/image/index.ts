/** Images after a description, and changed ones. */
import type { ImageAnswer, ImageRequest } from "../../core/image.ts";
import { KindFault, type ModelKind } from "../../core/model-kind.ts";
import { openaiDialects } from "./dialects.ts";
import { fetched } from "./fetched.ts";
import { makerDialects } from "./makers.ts";
import { imageRoutes } from "./routes.ts";
import { sizeOf } from "./usage.ts";

/** As much base64 as the largest answers of vendors have. Bytes. */
const LONGEST_ANSWER = 128 * 1024 * 1024;

/** A filter of the vendor may keep images back. */
function complete(answer: ImageAnswer): ImageAnswer {
  if (answer.images.length === 0) throw new KindFault("sent no image");
  return answer;
}

export const image: ModelKind<ImageRequest, ImageAnswer> = {
  id: "image",
  lacks: "makes no images",
  mock: "image",
  gives: ["image"],
  routes: imageRoutes,
  dialects: [...openaiDialects, ...makerDialects],
  // An image that was lost on its way was paid.
  repeats: "unsent",
  answerBytes: LONGEST_ANSWER,
  sizeOf,
  complete,
  fetches: { member: "response_format", content: fetched },
};
