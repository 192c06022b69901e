/**
 * Client and provider speak one dialect of embeddings: the client's bytes go out with the model's name replaced, and the
 * provider's bytes come back. weir parses neither, and reads only the token counts and the number of vectors.
 */
import type { Attempt } from "../../core/call.ts";
import type { EmbedDialect, ObservedEmbeddings } from "../../core/embed-dialect.ts";
import type { EmbedEndpoint } from "../../core/embed.ts";
import { isObject, parseJson } from "../../core/json.ts";
import { editMembers } from "../../stream/scan.ts";
import type { OpenedJson } from "../lanes/lane.ts";
import { passedHeaders, passedRefusal } from "../lanes/passed-error.ts";
import { invalidAnswer, readAnswer } from "../lanes/read-answer.ts";
import { headerFilters, send, upstreamHeaders } from "../lanes/send.ts";
import { refuseLosses } from "../lanes/strict.ts";
import type { Gateway } from "../types.ts";
import { MAX_VECTORS_BYTES } from "./parts.ts";
import type { IncomingEmbed } from "./types.ts";
import { recordUsage, unusable, Vectors } from "./vectors.ts";

export async function embedNatively(
  incoming: IncomingEmbed,
  attempt: Attempt,
  dialect: EmbedDialect,
  endpoint: EmbedEndpoint,
  gateway: Gateway,
): Promise<OpenedJson> {
  const { call, request, bytes, spanOf } = incoming;
  const { target } = attempt;
  refuseLosses(attempt, gateway);
  const edits = new Map(target.model === call.model ? [] : [["model", JSON.stringify(target.model)]]);
  const response = await send(
    {
      target,
      url: target.url,
      headers: upstreamHeaders(target, headerFilters(dialect).request(call.headers), false),
      body: editMembers(bytes, edits, spanOf),
      expects: "json",
    },
    attempt,
  );
  const native = dialect.native!;
  if (!response.ok)
    throw await passedRefusal(
      response,
      { ...dialect, isErrorBody: (body) => native.isErrorBody(body) },
      target,
    );
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
    return { kind: "json", status: response.status, headers, body: answer };
  }
  const body = convert(answer, incoming, attempt, dialect, endpoint, response.headers);
  return { kind: "json", status: response.status, headers, body };
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
  dialect: EmbedDialect,
  endpoint: EmbedEndpoint,
  headers: Parameters<EmbedDialect["readAnswer"]>[1],
): string {
  const parsed = parseJson(new TextDecoder().decode(bytes));
  const answer = isObject(parsed) ? dialect.readAnswer(parsed, headers, endpoint) : undefined;
  if (!answer) throw invalidAnswer(attempt.target);
  const vectors = new Vectors(request);
  vectors.add([...request.inputs.keys()], answer, attempt);
  return client.writeAnswer(vectors.answer(attempt), request);
}
