/**
 * The URLs of Google's clients: the Gemini API (`/v1beta/models/MODEL:METHOD`), Vertex AI in express mode
 * (`/v1beta1/publishers/google/models/…`) and in a project, tuned models. The SDK writes models of other vendors at Vertex AI
 * as `publishers/VENDOR/models/MODEL`.
 */
import type { UrlAddress } from "../../../core/url-address.ts";

/** `v1beta` first: it is the version of Google's documentation. */
const VERSIONS = ["v1beta", "v1", "v1beta1", "v1alpha"];

const PLACES = [
  "models/",
  "publishers/{publisher}/models/",
  "projects/{project}/locations/{location}/publishers/{publisher}/models/",
  "tunedModels/",
];

const MODEL_PATH =
  /^\/v1(?:beta|beta1|alpha)?\/(?:projects\/[^/]+\/locations\/[^/]+\/)?(?:publishers\/([^/]+)\/)?(models|tunedModels)\/(.+)$/;
/** The AI SDK puts no `models/` before a name with a slash. */
const BARE_NAME = /^\/v1beta\/([^/]+\/.+)$/;
const METHOD = /(?::|%3A)\w+$/i;

/** The publisher whose models have no prefix. */
const OWN_PUBLISHER = "google";

/**
 * The model in a path that ends in a method. The last colon separates the method, so that a model name may contain colons,
 * and slashes with and without percent-encoding.
 */
export function modelOf(path: string): string | undefined {
  const method = METHOD.exec(path);
  return method ? nameIn(path.slice(0, method.index)) : undefined;
}

/** The model in a path without a method. */
export function nameIn(path: string): string | undefined {
  const match = MODEL_PATH.exec(path);
  if (!match) {
    const bare = BARE_NAME.exec(path)?.[1];
    return bare === undefined ? undefined : decoded(bare);
  }
  const [, publisher, place, encoded] = match;
  const name = decoded(encoded!);
  if (place === "tunedModels") return `${place}/${name}`;
  return publisher === undefined || publisher === OWN_PUBLISHER ? name : `${decoded(publisher)}/${name}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The path of a method, in the first version and place. */
export function pathOf(method: string): string {
  return `/${VERSIONS[0]}/${PLACES[0]}{+model}:${method}`;
}

export const address: UrlAddress = {
  bases: [...PLACES.flatMap((place) => VERSIONS.map((version) => `/${version}/${place}`)), "/v1beta/"],
  stream: pathOf("streamGenerateContent"),
  prefixes: [
    "/v1beta/",
    "/v1beta1/",
    "/v1alpha/",
    "/v1/publishers/",
    "/v1/projects/",
    "/v1/tunedModels/",
    "/upload/",
    "/download/",
  ],
  modelOf,
  wantsEvents: (query) => query.get("alt") === "sse" || query.get("$alt") === "sse",
  keyParameter: "key",
};
