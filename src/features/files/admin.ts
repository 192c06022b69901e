/** Operations on files of clients. None of them reads bytes. */
import type { AdminBooks } from "../../admin/books.ts";
import { actorOf } from "../../admin/entries.ts";
import { seesCall } from "../../admin/filter.ts";
import { type AdminRequest, answers, type OwnOperations } from "../../admin/operation.ts";
import { keptIdIn } from "../../core/kept-id.ts";
import { AdminError, conflict, notFound } from "../../operator/errors.ts";
import type { Answerer } from "./book/answerer.ts";
import { deleteStoredFile, getStoredFile, listStoredFiles, type StoredFile } from "./contracts.ts";
import type { FileRow } from "./messages.ts";
import { filesPart } from "./slots.ts";

const operations = [
  answers(listStoredFiles, async ({ books, caller, query }) => {
    const part = await partOf(books);
    const { within = caller.path, before, limit } = query;
    if (!seesCall({ caller }, { path: within }))
      throw new AdminError(403, "not_permitted", `This key may act only on ${caller.path} and below.`);
    const from = before === undefined ? undefined : (keptIdIn(before) ?? before);
    const { files = [], hasMore = false } = await part.files.within(within, limit, from);
    return { json: { files: files.map(shapeOf), hasMore } };
  }),
  answers(getStoredFile, async (given) => {
    const part = await partOf(given.books);
    return { json: shapeOf(await fileOf(given, part, given.params.id)) };
  }),
  answers(deleteStoredFile, async (given) => {
    const { books, caller, params } = given;
    const part = await partOf(books);
    const file = await fileOf(given, part, params.id);
    const { refused } = await part.remove(file.id);
    if (refused === "held") throw conflict("The file is being read; delete it when that has ended.");
    if (refused !== undefined) throw notFound("file", params.id);
    await books.note(actorOf(caller), "delete", `files/${file.id}`, { path: file.path, name: file.name });
    return { json: { id: file.id, deleted: true as const } };
  }),
];

export const admin: OwnOperations = { after: ["deleteCaptures", "getCallMoney"], operations };

/** @throws AdminError 503 while the part in the keeper does not run */
async function partOf({ offers }: AdminBooks): Promise<Answerer> {
  const found = filesPart.get(offers);
  if (found) return found();
  throw new AdminError(503, "store_failed", "The files cannot be used: the keeper has not started.");
}

/** @throws AdminError 404 also for a file that lies elsewhere in the tree */
async function fileOf(given: Pick<AdminRequest, "caller">, part: Answerer, id: string): Promise<FileRow> {
  const { files = [] } = await part.files.find(keptIdIn(id) ?? id);
  if (files[0] && seesCall(given, files[0])) return files[0];
  throw notFound("file", id);
}

function shapeOf({ keptIn: _, ...file }: FileRow): StoredFile {
  return file;
}
