/** Google's batches, which are long-running operations. */
import { GatewayError, invalidRequest } from "../../../core/error.ts";
import { type Batch, isEnd } from "../batch.ts";
import { fromBatch, fromKeyedLines } from "../lines/requests.ts";
import { fileNotFound } from "../shapes/errors.ts";
import { googleList, googleOperation, googleOperationText, isInFile } from "../shapes/google.ts";
import { readListPage } from "../shapes/pages.ts";
import { googleResult } from "../shapes/results.ts";
import {
  asking,
  assertEndpoint,
  type Batches,
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
import { orderedResults, readResults } from "./read-results.ts";
import { streamOf } from "./streams.ts";

const MOST_BODY = 256 * 1024 * 1024;

const createWith =
  (method: string): Handle =>
  async (batches, request, visit) => {
    const who = await asking(visit, batches);
    visit.allowSilence();
    const endpoint = `/v1beta/models/${modelIn(request)}:${method}`;
    assertEndpoint(endpoint);
    const limits = { lines: batches.limits.lines };
    const conversion = fromBatch(visit.stream(MOST_BODY), endpoint, limits);
    const kept = await keepInput(batches, who, conversion);
    const { fileName, name } = conversion.around!;
    const window = usualWindow(batches.window);
    const named = { ...(name !== undefined && { name }) };
    if (fileName === undefined) {
      const made = { ...named, endpoint, input: kept, window, isInline: true as const };
      return Response.json(googleOperation(await createBatch(batches, who, made)));
    }
    await batches.files().remove(kept.id);
    const given = await batches.files().find(fileName, who.principal);
    if (!given) throw fileNotFound(fileName.slice(0, 80), "google");
    const lines = () => fromKeyedLines(batches.files().read(given), endpoint, limits);
    const input = await keepInput(batches, who, { lines });
    return Response.json(
      googleOperation(await createBatch(batches, who, { ...named, endpoint, input, window, isCopy: true })),
    );
  };

export const generate = createWith("generateContent");
export const embed = createWith("embedContent");

export const list: Handle = async (batches, { url }, visit) => {
  const who = await asking(visit, batches);
  const found = await batchesOf(batches, who, readListPage("google", new URL(url).searchParams));
  return Response.json(googleList(found.batches, found.hasMore));
};

export const get: Handle = async (batches, request, visit) => {
  const who = await asking(visit, batches);
  return operation(batches, await batchOf(batches, who, idIn(request)), request.url);
};

export const cancel: Handle = async (batches, request, visit) => {
  const who = await asking(visit, batches);
  await cancelBatch(batches, who, idIn(request));
  return Response.json({});
};

export const remove: Handle = async (batches, request, visit) => {
  const who = await asking(visit, batches);
  await removeBatch(batches, who, idIn(request));
  return Response.json({});
};

/** With all results, unless they are in a file. */
async function operation(batches: Batches, batch: Batch, url: string): Promise<Response> {
  if (!isEnd(batch.state) || isInFile(batch)) return Response.json(googleOperation(batch));
  const reading = { batch, reader: "google", url, form: googleResult } as const;
  const results = readResults(reading, orderedResults(batch, batches.files()), batches);
  return new Response(streamOf(googleOperationText(batch, results)), {
    headers: { "content-type": "application/json" },
  });
}

function modelIn({ url }: Request): string {
  const [, model] = /\/models\/(.+):\w+$/.exec(decodeURIComponent(new URL(url).pathname)) ?? [];
  if (model !== undefined) return model;
  throw invalidRequest("The path names no model.") satisfies GatewayError;
}
