/**
 * Client and provider speak one dialect of embeddings: the client's bytes go out with the model's name replaced, and the
 * provider's bytes come back. weir parses neither, and reads only the token counts and the number of vectors.
 */
import type { Attempt } from "../../core/call.ts";
import type { ObservedEmbeddings } from "../../core/embed-dialect.ts";
import type { HeaderReader } from "../../core/headers.ts";
import type { JsonObject } from "../../core/json.ts";
import { isObject, parseJson } from "../../core/json.ts";
import { editMembers, scanBody } from "../../stream/scan.ts";
import type { OpenedJson, Prepared } from "../lanes/lane.ts";
import { passedHeaders, passedRefusal } from "../lanes/passed-error.ts";
import { invalidAnswer, readAnswer } from "../lanes/read-answer.ts";
import { headerFilters } from "../lanes/header-filter.ts";
import { send, upstreamHeaders } from "../lanes/send.ts";
import { adoptReported, refuseLosses } from "../lanes/losses.ts";
import type { Gateway } from "../types.ts";
import { MAX_VECTORS_BYTES } from "./parts.ts";
import type { IncomingEmbed } from "./types.ts";
import { recordUsage, unusable, Vectors } from "./vectors.ts";
import type { Way } from "./way.ts";

export async function embedNatively(
  incoming: IncomingEmbed,
  attempt: Attempt,
  way: Way,
  gateway: Gateway,
): Promise<OpenedJson> {
  const { call, request } = incoming;
  const { target } = attempt;
  const { dialect } = way;
  const response = await send(prepareNatively(incoming, attempt, way, gateway), attempt);
  const native = dialect.native!;
  if (!response.ok) throw await passedRefusal(response, { address: dialect, codec: dialect, native }, target);
  await adoptReported(response, attempt, gateway);
  const answer = await readAnswer(response, attempt, MAX_VECTORS_BYTES);
  attempt.firstByteAt = performance.now();
  const observed = native.observe(answer);
  if (!observed) throw invalidAnswer(target);
  if (observed.count !== request.inputs.length)
    throw unusable(attempt, `sent ${observed.count} vectors for ${request.inputs.length} inputs`);
  call.status = response.status;
  const headers = { ...passedHeaders(dialect, response, target), "content-type": "application/json" };
  if (isAsked(observed, incoming)) {
    if (observed.usage) recordUsage(observed.usage, attempt);
    return { kind: "json", status: response.status, headers, body: withMembers(answer, observed.completed) };
  }
  const body = convert(answer, incoming, attempt, way, response.headers);
  return { kind: "json", status: response.status, headers, body };
}

/** The provider's bytes with some members replaced. */
function withMembers(bytes: Uint8Array, replaced: JsonObject | undefined): Uint8Array {
  if (!replaced) return bytes;
  const edits = new Map(Object.entries(replaced).map(([name, value]) => [name, JSON.stringify(value)]));
  const { members } = scanBody(bytes, Infinity);
  return Buffer.concat(editMembers(bytes, edits, (name) => members.get(name)));
}

/** The client's request with the provider's name of the model. */
export function prepareNatively(
  { call, bytes, spanOf }: IncomingEmbed,
  attempt: Attempt,
  { dialect }: Way,
  context: Pick<Gateway, "strict">,
): Prepared {
  const { target } = attempt;
  refuseLosses(attempt, context);
  const edits = new Map(target.model === call.model ? [] : [["model", JSON.stringify(target.model)]]);
  return {
    target,
    url: target.url,
    headers: upstreamHeaders(target, headerFilters(dialect).request(call.headers), false),
    body: editMembers(bytes, edits, spanOf),
    expects: "json",
    changed: [...edits.keys()],
  };
}

/** Whether the vectors have the encoding that the client asked for: its SDK decodes no other. */
function isAsked({ encoding }: ObservedEmbeddings, { request }: IncomingEmbed): boolean {
  return encoding === request.encoding;
}

/** The answer with its vectors in the client's encoding. */
function convert(
  bytes: Uint8Array,
  { client, request }: IncomingEmbed,
  attempt: Attempt,
  { dialect, endpoint }: Way,
  headers: HeaderReader,
): string {
  const parsed = parseJson(new TextDecoder().decode(bytes));
  const answer = isObject(parsed) ? dialect.readAnswer(parsed, headers, endpoint) : undefined;
  if (!answer) throw invalidAnswer(attempt.target);
  const vectors = new Vectors(request);
  vectors.add([...request.inputs.keys()], answer, attempt);
  return client.writeAnswer(vectors.answer(attempt), request, attempt.call.startedAt);
}
