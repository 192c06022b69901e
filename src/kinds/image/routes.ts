/** The paths that clients ask for images. */
import { Type } from "@sinclair/typebox";
import type { ImageAnswer, ImageRequest } from "../../core/image.ts";
import type { FormFields, KindRoute } from "../../core/model-kind.ts";
import { anything, open, optional, toJson } from "../../formats/shared/schema.ts";
import { writeAnswer, writeEvents } from "./answer.ts";
import { places } from "./places.ts";
import { checkFor, decodeFor, DEFAULTS } from "./request.ts";

type Route = KindRoute<ImageRequest, ImageAnswer>;

const COMMON = {
  model: Type.Optional(Type.String({ default: DEFAULTS })),
  n: optional(Type.Integer({ minimum: 1, maximum: 100 })),
  size: optional(Type.String({ description: "`1024x1024`, or `auto`." })),
  response_format: optional(Type.String({ description: "`url` or `b64_json`." })),
};

const DRAWN = {
  ...COMMON,
  prompt: Type.String(),
  quality: optional(Type.String()),
  background: optional(Type.String()),
  output_format: optional(Type.String()),
  stream: optional(Type.Boolean()),
  partial_images: optional(Type.Integer({ minimum: 0, maximum: 16 })),
};

const FILE = Type.Unknown({ description: "A file of a form, or `{ image_url }`." });

const Generation = open(DRAWN);
const Edit = open({
  ...DRAWN,
  image: Type.Optional(FILE),
  images: Type.Optional(FILE),
  mask: Type.Optional(FILE),
});
const Variation = open({ ...COMMON, image: FILE });

const Answer = open({
  created: Type.Integer(),
  data: Type.Array(
    open({
      b64_json: Type.Optional(Type.String()),
      url: Type.Optional(Type.String()),
      revised_prompt: optional(Type.String()),
    }),
  ),
  usage: Type.Optional(anything()),
});

const Event = open({
  type: Type.String({ description: "`image_generation.completed`, `image_edit.partial_image` and so on." }),
  b64_json: Type.String(),
  usage: Type.Optional(anything()),
});

const FORM: FormFields = { numbers: ["n", "partial_images", "output_compression"], booleans: ["stream"] };

export const imageRoutes: readonly Route[] = [
  {
    operation: "createImage",
    summary: "Make images",
    description: "Images after a description, as one answer or as a stream with partial images.",
    path: "/v1/images/generations",
    defaultModel: DEFAULTS.generate,
    schemas: { request: toJson(Generation), answer: toJson(Answer), event: toJson(Event) },
    checkRequest: checkFor("generate"),
    decodeRequest: decodeFor("generate"),
    ...{ writeAnswer, writeEvents, places },
  },
  {
    operation: "createImageEdit",
    summary: "Edit images",
    description: "Images made of others after a description. Files come in a form (`multipart/form-data`).",
    path: "/v1/images/edits",
    defaultModel: DEFAULTS.edit,
    form: FORM,
    schemas: { request: toJson(Edit), answer: toJson(Answer), event: toJson(Event) },
    checkRequest: checkFor("edit"),
    decodeRequest: decodeFor("edit"),
    ...{ writeAnswer, writeEvents, places },
  },
  {
    operation: "createImageVariation",
    summary: "Vary an image",
    description: "Images like the one in a form (`multipart/form-data`).",
    path: "/v1/images/variations",
    defaultModel: DEFAULTS.vary,
    form: FORM,
    schemas: { request: toJson(Variation), answer: toJson(Answer) },
    checkRequest: checkFor("vary"),
    decodeRequest: decodeFor("vary"),
    ...{ writeAnswer, places },
  },
];
