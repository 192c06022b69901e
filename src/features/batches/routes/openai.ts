/** OpenAI's batches. */
import { invalidRequest } from "../../../core/error.ts";
import { isObject, type Json, parseJson } from "../../../core/json.ts";
import { fileNotFound, wrongPurpose } from "../shapes/errors.ts";
import { openaiBatch, openaiList } from "../shapes/openai.ts";
import { readListPage } from "../shapes/pages.ts";
import {
  assertEndpoint,
  asking,
  batchesOf,
  batchOf,
  cancelBatch,
  createBatch,
  type Handle,
  idIn,
  windowOf,
} from "./create.ts";

/** A request of creation is small. Bytes. */
const MOST_BODY = 65_536;
/** Limits of the vendor for metadata: pairs, characters of names and of values. */
const PAIRS = 16;
const NAME = 64;
const VALUE = 512;

export const create: Handle = async (batches, _, visit) => {
  const who = await asking(visit, batches);
  const body = parseJson(Buffer.from(await visit.body(MOST_BODY)).toString());
  if (!isObject(body)) throw invalidRequest("The body must be a JSON object.");
  const { endpoint, input_file_id: file, completion_window: window = "24h", metadata } = body;
  assertEndpoint(endpoint);
  if (typeof file !== "string" || file === "")
    throw invalidRequest("`input_file_id` must be the id of a file.", "input_file_id", "invalid_value");
  const ms = windowOf(window, batches.window);
  const pairs = metadataOf(metadata);
  const input = await batches.files().find(file, who.principal);
  if (!input) throw fileNotFound(file.slice(0, 80), "openai");
  if (input.purpose !== "batch") throw wrongPurpose(input.purpose);
  const { name } = input;
  return Response.json(
    openaiBatch(await createBatch(batches, who, { endpoint, input, window: ms, metadata: pairs, name })),
  );
};

export const list: Handle = async (batches, { url }, visit) => {
  const who = await asking(visit, batches);
  const found = await batchesOf(batches, who, readListPage("openai", new URL(url).searchParams));
  return Response.json(openaiList(found.batches, found.hasMore));
};

export const get: Handle = async (batches, request, visit) => {
  const who = await asking(visit, batches);
  return Response.json(openaiBatch(await batchOf(batches, who, idIn(request))));
};

export const cancel: Handle = async (batches, request, visit) => {
  const who = await asking(visit, batches);
  return Response.json(openaiBatch(await cancelBatch(batches, who, idIn(request))));
};

/** @throws GatewayError 400 */
function metadataOf(written: Json | undefined): Readonly<Record<string, string>> {
  if (written === undefined || written === null) return {};
  const pairs = isObject(written) ? Object.entries(written) : undefined;
  const isValid =
    pairs !== undefined &&
    pairs.length <= PAIRS &&
    pairs.every(([name, value]) => name.length <= NAME && typeof value === "string" && value.length <= VALUE);
  if (isValid) return written as Record<string, string>;
  throw invalidRequest(
    `\`metadata\` must be at most ${PAIRS} texts, with names of at most ${NAME} and values of at most ${VALUE} characters.`,
    "metadata",
    "invalid_value",
  );
}
