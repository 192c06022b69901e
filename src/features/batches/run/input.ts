/** The lines of a batch whose input was checked. */
import type { KeptFiles } from "../../../core/kept-files.ts";
import type { Batch } from "../batch.ts";
import { checkInput, type CheckedInput, type InputCheck } from "../lines/check-input.ts";
import { checkLine, isFault } from "../lines/check-line.ts";
import { readLines } from "../lines/read-lines.ts";
import { ownFile } from "./own-file.ts";

export interface InputLine {
  /** Counts from 1. */
  readonly number: number;
  readonly customId: string;
  /** Path of the API. */
  readonly url: string;
  /** As the body or the path names it. */
  readonly model: string;
  /** The exact bytes of the body. */
  readonly body: Uint8Array;
}

/** @throws Error if the file is gone or has changed */
export async function* inputOf(batch: Batch, files: KeptFiles): AsyncGenerator<InputLine, void> {
  const { endpoint, inputFile } = batch;
  const chunks = files.read(await ownFile(files, inputFile));
  let left = batch.lines;
  for await (const { number, bytes } of readLines(chunks)) {
    if (left-- === 0) return;
    const checked = checkLine(bytes, number, { endpoint });
    if (isFault(checked))
      throw new Error(`The input of the batch ${batch.id} has changed at line ${number}.`);
    const { customId, url, model, bodyStart, bodyEnd } = checked;
    // The bytes of a line are valid until the next one is read.
    yield { number, customId, url, model, body: new Uint8Array(bytes.subarray(bodyStart, bodyEnd)) };
  }
}

export async function checkedInput(
  batch: Batch,
  files: KeptFiles,
  check: Pick<InputCheck, "lines" | "sharedIds" | "oneModel">,
): Promise<CheckedInput> {
  const chunks = files.read(await ownFile(files, batch.inputFile));
  return checkInput(chunks, { endpoint: batch.endpoint, ...check });
}
