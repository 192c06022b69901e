/** The results of a batch that has ended, from its files. */
import type { KeptFiles } from "../../../core/kept-files.ts";
import type { Batch } from "../batch.ts";
import { checkLine, isFault } from "../lines/check-line.ts";
import { readLines } from "../lines/read-lines.ts";
import { scanBody } from "../../../stream/scan.ts";
import type { Dialect } from "../shapes/ids.ts";
import { dialectOf, type ResultContext } from "../shapes/results.ts";
import { ownFile } from "../run/own-file.ts";
import type { Batches } from "./create.ts";
import { Losses } from "./losses.ts";
import { translator } from "./translate.ts";

/** A result as it is stored. Its bytes are valid until the next one is taken. */
export interface StoredResult {
  readonly line: Uint8Array;
  /** What a client of Google said of its request, beside the key. JSON. */
  readonly metadata?: Uint8Array;
}

/** Writes a result in the words of a dialect. @throws Error if the stored line is none */
export type ResultForm = (line: Uint8Array, context: ResultContext, metadata?: Uint8Array) => string;

export interface Reading {
  readonly batch: Batch;
  /** Whose format the reader knows. */
  readonly reader: Dialect;
  /** Of the request; with `?as=line` an answer keeps the format of its line, inside the reader's envelope. */
  readonly url: string;
  readonly form: ResultForm;
}

/** Whether a reader asks for answers in the format of their lines. */
export function isAsLine(url: string): boolean {
  return new URL(url).searchParams.get("as") === "line";
}

/** Results in a reader's words. What its format cannot carry is counted when all have been read. */
export async function* readResults(
  { batch, reader, url, form }: Reading,
  results: AsyncIterable<StoredResult>,
  { lose }: Pick<Batches, "lose">,
): AsyncGenerator<string, void> {
  const losses = new Losses();
  const translate = isAsLine(url) ? (body: Uint8Array) => body : await translator((code) => losses.add(code));
  const context = { endpoint: batch.endpoint, translate };
  for await (const { line, metadata } of results) yield form(line, context, metadata);
  lose(batch, reader, losses);
}

/** Those that succeeded, and then the others. */
export async function* resultsOf(batch: Batch, files: KeptFiles): AsyncGenerator<StoredResult, void> {
  for (const id of [batch.outputFile, batch.errorFile]) if (id !== undefined) yield* resultsIn(id, files);
}

/** @param id of a file of results */
export async function* resultsIn(id: string, files: KeptFiles): AsyncGenerator<StoredResult, void> {
  for await (const { bytes } of linesOf(files, id)) yield { line: bytes };
}

/** In the order of the input, which each of the two files has. */
export async function* orderedResults(batch: Batch, files: KeptFiles): AsyncGenerator<StoredResult, void> {
  const { endpoint, inputFile, outputFile, errorFile } = batch;
  const heads = [outputFile, errorFile].flatMap((id) =>
    id === undefined ? [] : [new Head(linesOf(files, id))],
  );
  for (const head of heads) await head.next();
  for await (const { number, bytes } of linesOf(files, inputFile)) {
    const checked = checkLine(bytes, number, { endpoint });
    if (isFault(checked)) return;
    const marker = Buffer.from(`"custom_id":${JSON.stringify(checked.customId)},`);
    const next = heads.find((head) => head.hasMark(marker));
    if (!next) continue;
    yield { line: next.line!, ...(dialectOf(endpoint) === "google" && metadataIn(bytes)) };
    await next.next();
  }
}

function metadataIn(line: Uint8Array): Pick<StoredResult, "metadata"> {
  const span = scanBody(line, Infinity).members.get("metadata");
  return span ? { metadata: line.subarray(span.start, span.end) } : {};
}

/** Bytes of a stored line in which its `custom_id` ends. */
const MARKED = 4_096;

/** The next line of a file of results. */
class Head {
  readonly #lines: AsyncGenerator<{ bytes: Uint8Array }, void>;
  line: Uint8Array | undefined;

  constructor(lines: AsyncGenerator<{ bytes: Uint8Array }, void>) {
    this.#lines = lines;
  }

  async next(): Promise<void> {
    const { value, done } = await this.#lines.next();
    this.line = done === true ? undefined : value.bytes;
  }

  hasMark(marker: Buffer): boolean {
    return this.line !== undefined && Buffer.from(this.line.subarray(0, MARKED)).includes(marker);
  }
}

/** A result may be longer than a line of an input. Bytes. */
const MOST_LINE = 64 * 1024 * 1024;

async function* linesOf(files: KeptFiles, id: string) {
  yield* readLines(files.read(await ownFile(files, id)), { line: MOST_LINE });
}
