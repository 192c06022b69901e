/** Anthropic's message batches. */
import { isEnd } from "../batch.ts";
import { fromRequests } from "../lines/requests.ts";
import { anthropicBatch, anthropicDeleted, anthropicList, type AnthropicView } from "../shapes/anthropic.ts";
import { batchNotEnded } from "../shapes/errors.ts";
import { readListPage } from "../shapes/pages.ts";
import { anthropicResult } from "../shapes/results.ts";
import {
  asking,
  batchesOf,
  batchOf,
  cancelBatch,
  createBatch,
  type Handle,
  idIn,
  keepInput,
  removeBatch,
  usualWindow,
} from "./create.ts";
import { readResults, resultsOf } from "./read-results.ts";
import { linesOf, streamOf } from "./streams.ts";

const PATH = "/v1/messages";
/** Limit of the vendor for a body. Bytes. */
const MOST_BODY = 256 * 1024 * 1024;

export const create: Handle = async (batches, request, visit) => {
  const who = await asking(visit, batches);
  visit.allowSilence();
  const conversion = fromRequests(visit.stream(MOST_BODY), PATH, { lines: batches.limits.lines });
  const input = await keepInput(batches, who, conversion);
  const made = { endpoint: PATH, input, window: usualWindow(batches.window), isInline: true } as const;
  return Response.json(anthropicBatch(await createBatch(batches, who, made), viewOf(request)));
};

export const list: Handle = async (batches, request, visit) => {
  const who = await asking(visit, batches);
  const found = await batchesOf(batches, who, readListPage("anthropic", new URL(request.url).searchParams));
  return Response.json(anthropicList(found.batches, found.hasMore, viewOf(request)));
};

export const get: Handle = async (batches, request, visit) => {
  const who = await asking(visit, batches);
  return Response.json(anthropicBatch(await batchOf(batches, who, idIn(request)), viewOf(request)));
};

export const cancel: Handle = async (batches, request, visit) => {
  const who = await asking(visit, batches);
  return Response.json(anthropicBatch(await cancelBatch(batches, who, idIn(request)), viewOf(request)));
};

export const remove: Handle = async (batches, request, visit) => {
  const who = await asking(visit, batches);
  return Response.json(anthropicDeleted(await removeBatch(batches, who, idIn(request))));
};

export const results: Handle = async (batches, request, visit) => {
  const who = await asking(visit, batches);
  const written = idIn(request);
  const batch = await batchOf(batches, who, written);
  if (!isEnd(batch.state)) throw batchNotEnded(written);
  visit.allowSilence();
  const reading = { batch, reader: "anthropic", url: request.url, form: anthropicResult } as const;
  const lines = linesOf(readResults(reading, resultsOf(batch, batches.files()), batches));
  return new Response(streamOf(lines), { headers: { "content-type": "application/x-jsonl" } });
};

/** The address at which weir was asked, for clients that follow it. */
function viewOf({ url }: Request): AnthropicView {
  return { url: new URL(url).origin, now: Date.now() };
}
