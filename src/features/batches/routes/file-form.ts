/** Files of results for the clients that download them: each reads lines in the form of its vendor. */
import type { KeptFile } from "../../../core/kept-files.ts";
import type { Batch } from "../batch.ts";
import { resultsFile } from "../shapes/google.ts";
import { type Dialect } from "../shapes/ids.ts";
import { anthropicResult, dialectOf, googleFileLine, openaiResult } from "../shapes/results.ts";
import type { Batches } from "./create.ts";
import { isAsLine, orderedResults, readResults, type ResultForm, resultsIn } from "./read-results.ts";
import { linesOf, piecesOf } from "./streams.ts";

const FORMS: Readonly<Record<Dialect, ResultForm>> = {
  openai: openaiResult,
  anthropic: anthropicResult,
  google: googleFileLine,
};

/** @returns undefined for a file that is no result of a batch, and for one whose bytes have the form of the reader */
export async function formOf(
  batches: Pick<Batches, "asks" | "files" | "lose">,
  file: KeptFile,
  reader: Dialect,
  url: string,
): Promise<AsyncGenerator<Uint8Array, void, undefined> | undefined> {
  if (file.purpose !== "batch_output" || isAsLine(url)) return undefined;
  const batch = await batchOf(batches, file);
  if (!batch || (reader === "openai" && dialectOf(batch.endpoint) === "openai")) return undefined;
  const files = batches.files();
  // Google's clients know one file, with all results.
  const hasAll = reader === "google" && resultsFile(batch) === file.id;
  const results = hasAll ? orderedResults(batch, files) : resultsIn(file.id, files);
  return piecesOf(linesOf(readResults({ batch, reader, url, form: FORMS[reader] }, results, batches)));
}

/** The batch of a file of results. Who may read the file may read its lines in another form. */
async function batchOf(
  { asks }: Pick<Batches, "asks">,
  { id: file, name }: KeptFile,
): Promise<Batch | undefined> {
  const [, id] = /^batch_([0-9a-z]+)_/.exec(name) ?? [];
  if (id === undefined) return undefined;
  const answer = await asks.ask({ get: { id, seer: {} } });
  if (!("batch" in answer) || !answer.batch) return undefined;
  const { outputFile, errorFile } = answer.batch;
  return file === outputFile || file === errorFile ? answer.batch : undefined;
}
