/** Writes the options of a request under the names and in the words of a dialect and its host. */
import type { CodecContext } from "../core/context.ts";
import type { EmbedEndpoint, EmbedPurpose, EmbedRequest } from "../core/embed.ts";
import { invalidRequest } from "../core/error.ts";
import type { JsonObject } from "../core/json.ts";
import { getOwn } from "../core/own.ts";

/** The members of a dialect; `false` for an option that it lacks. */
export type OptionNames = Required<NonNullable<EmbedEndpoint["members"]>>;

/** The words of a dialect for what vectors are for; absent if it takes the client's word. */
export type PurposeWords = EmbedEndpoint["inputTypes"];

/**
 * The members for dimensions, input type and user. What the host cannot take is reported as a loss, except `dimensions`: the
 * client stores vectors of one length.
 * @throws GatewayError `invalid-request` for `dimensions` at a host that cannot shorten its vectors
 */
export function encodeOptions(
  request: EmbedRequest,
  endpoint: EmbedEndpoint,
  context: CodecContext,
  dialect: OptionNames,
  dialectWords?: PurposeWords,
): JsonObject {
  const names = { ...dialect, ...endpoint.members };
  const options: JsonObject = {};
  const { dimensions, inputType, user } = request;
  const drop = (part: "inputType" | "user", why: string) =>
    context.reportLoss("dropped", request.pathOf(part), why);
  if (dimensions !== undefined) {
    if (names.dimensions === false) throw fixedDimensions(request, context);
    options[names.dimensions] = dimensions;
  }
  if (inputType !== undefined) {
    const word = wordFor(inputType, endpoint.inputTypes ?? dialectWords);
    if (names.inputType === false) drop("inputType", "the provider does not ask what vectors are for");
    else if (word === undefined) drop("inputType", "the provider has no such word");
    else options[names.inputType] = word;
  }
  if (user !== undefined) {
    if (names.user === false) drop("user", "the provider does not accept a user id");
    else options[names.user] = user;
  }
  return options;
}

/** Reports the members of the client's dialect that another dialect does not have. */
export function dropExtra({ extra }: EmbedRequest, context: CodecContext): void {
  for (const name of Object.keys(extra))
    context.reportLoss("dropped", name, "the provider has no such option");
}

/** The host's word for the client's; `undefined` if it has none. @param words absent if the host takes any word */
export function wordFor(inputType: string, words: PurposeWords): string | undefined {
  if (!words) return inputType;
  const purpose = purposeOf(inputType);
  return purpose && words[purpose];
}

/** `search_query`, `RETRIEVAL_QUERY` and `query` mean the same. */
function purposeOf(word: string): EmbedPurpose | undefined {
  return getOwn(PURPOSES, word.toLowerCase().replace(/^(?:search|retrieval|semantic)_/, ""));
}

const PURPOSES: Readonly<Record<string, EmbedPurpose>> = {
  query: "query",
  document: "document",
  passage: "document",
  classification: "classification",
  clustering: "clustering",
  similarity: "similarity",
};

function fixedDimensions(request: EmbedRequest, { target }: CodecContext) {
  return invalidRequest(
    `The model ${target.model} of ${target.provider} has vectors of one length; leave dimensions out.`,
    request.pathOf("dimensions"),
    "unsupported_value",
  );
}
