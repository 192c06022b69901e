/** The results of a batch that has ended, from its files. */
import type { KeptFiles } from "../../../core/kept-files.ts";
import type { Batch } from "../batch.ts";
import { checkLine, isFault } from "../lines/check-line.ts";
import { readLines } from "../lines/read-lines.ts";
import type { ResultContext } from "../shapes/results.ts";
import { ownFile } from "../run/own-file.ts";
import { translator } from "./translate.ts";

/** @param url of the request; with `?as=line` an answer keeps the format of its line, inside the reader's envelope */
export async function contextOf({ endpoint }: Batch, url: string): Promise<ResultContext> {
  const asLine = new URL(url).searchParams.get("as") === "line";
  return { endpoint, translate: asLine ? (body) => body : await translator() };
}

/** Stored lines: those that succeeded, and then the others. A line is valid until the next one is taken. */
export async function* resultsOf(batch: Batch, files: KeptFiles): AsyncGenerator<Uint8Array, void> {
  for (const id of [batch.outputFile, batch.errorFile])
    if (id !== undefined) for await (const { bytes } of linesOf(files, id)) yield bytes;
}

/** Stored lines in the order of the input, which each of the two files has. */
export async function* orderedResults(batch: Batch, files: KeptFiles): AsyncGenerator<Uint8Array, void> {
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
    yield next.line!;
    await next.next();
  }
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
