/** Operations on batches of clients. The lines and results stay sealed: operators see numbers, codes and costs. */
import { actorOf, findKey } from "../../admin/entries.ts";
import { seesCall } from "../../admin/filter.ts";
import { type AdminRequest, answers, type OwnOperations } from "../../admin/operation.ts";
import { AdminError, conflict, notFound } from "../../operator/errors.ts";
import type { Kept } from "./book.ts";
import {
  type BatchDetails,
  cancelBatch,
  getBatch,
  listBatches,
  type ListedBatch,
  retryBatch,
} from "./contracts.ts";
import { retryOf } from "./retry.ts";
import { readBatch, readBatches } from "./operator-book.ts";
import { batchIdIn } from "./shapes/ids.ts";
import { batchesPart, runnerStop } from "./slots.ts";

type Given = Pick<AdminRequest, "books" | "caller">;

const operations = [
  answers(listBatches, async (given) => {
    const { books, caller, query } = given;
    const { path: within = caller.path, key, state, limit, after } = query;
    if (!seesCall({ caller }, { path: within }))
      throw new AdminError(403, "not_permitted", `This key may act only on ${caller.path} and below.`);
    const keyId = key === undefined ? undefined : findKey(given, key).id;
    const from = after === undefined ? undefined : (batchIdIn(after) ?? after);
    const { batches, last } = await books.read((sql) =>
      readBatches(sql, {
        ...{ within, limit },
        ...(state && { state }),
        ...(keyId !== undefined && { key: keyId }),
        ...(from !== undefined && { after: from }),
      }),
    );
    return {
      json: {
        batches: batches.map((kept) => listedOf(kept, given)),
        ...(last !== undefined && { next: last }),
      },
    };
  }),
  answers(getBatch, async (given) => ({
    json: detailsOf(await batchOf(given, given.params.id), given),
  })),
  answers(cancelBatch, async (given) => {
    const { books, caller, params } = given;
    const part = batchesPart.get(books.offers);
    if (!part)
      throw new AdminError(503, "store_failed", "The batch was not cancelled: the keeper has not started.");
    const { batch } = await batchOf(given, params.id);
    const cancelled = await part.cancel(batch.id, {});
    if ("refused" in cancelled) throw conflict(`The batch has ended: ${batch.state}.`);
    if ("none" in cancelled) throw notFound("batch", params.id);
    runnerStop.get(books.offers)?.(batch.id);
    await books.note(actorOf(caller), "cancel", `batches/${batch.id}`, { path: batch.path });
    return { json: detailsOf(await batchOf(given, params.id), given) };
  }),
  answers(retryBatch, async (given) => {
    const { books, caller, params } = given;
    const part = batchesPart.get(books.offers);
    if (!part) throw new AdminError(503, "store_failed", "No batch was made: the keeper has not started.");
    const before = await batchOf(given, params.id);
    const batch = retryOf(before.batch, Date.now());
    await part.create({
      batch,
      owner: before.owner,
      ...{ most: Number.MAX_SAFE_INTEGER, queued: Number.MAX_SAFE_INTEGER },
    });
    await books.note(actorOf(caller), "retry", `batches/${before.batch.id}`, { path: batch.path });
    return { json: detailsOf(await batchOf(given, batch.id), given) };
  }),
];

export const admin: OwnOperations = {
  after: ["deleteStoredFile", "deleteCaptures", "getCallMoney"],
  operations,
  async placeOf(books, subject) {
    const [, id] = /^batches\/(.+)$/.exec(subject) ?? [];
    return id === undefined ? undefined : (await books.read((sql) => readBatch(sql, id)))?.batch.path;
  },
};

/** @throws AdminError 404 also for a batch that lies elsewhere in the tree */
async function batchOf(given: Given, id: string): Promise<Kept> {
  const kept = await given.books.read((sql) => readBatch(sql, batchIdIn(id) ?? id));
  if (kept && seesCall(given, kept.batch)) return kept;
  throw notFound("batch", id);
}

function listedOf({ batch }: Kept, { books }: Given): ListedBatch {
  const { id, path, endpoint, how, state, lines, done, failed, cancelled, late } = batch;
  const { key, person, name, model, reason, cost, createdAt, startedAt, endedAt, deadline } = batch;
  const keyName = books.policy().keys.find((one) => one.id === key)?.name;
  return {
    ...{ id, path, endpoint, how, state, lines, done, failed, cancelled, late, cost, createdAt, deadline },
    ...(key !== undefined && { key }),
    ...(keyName !== undefined && { keyName }),
    ...(person !== undefined && { person }),
    ...(name !== undefined && { name }),
    ...(model !== undefined && { model }),
    ...(reason !== undefined && { reason }),
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
  };
}

function detailsOf(kept: Kept, given: Given): BatchDetails {
  const { batch, node, fence, lease } = kept;
  const { held, usage, faults, inputFile, outputFile, errorFile, retries } = batch;
  return {
    ...listedOf(kept, given),
    ...{ held, usage, inputFile },
    faults: faults.map((fault) => ({ ...fault })),
    ...(outputFile !== undefined && { outputFile }),
    ...(errorFile !== undefined && { errorFile }),
    ...(retries && { retries: retries.batch }),
    ...(node !== "" && { runner: { node, fence, until: lease } }),
  };
}
