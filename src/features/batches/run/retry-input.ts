/** The input of a batch that retries another one: its lines that have no answer, with their bytes. */
import { isObject, parseJson } from "../../../core/json.ts";
import type { KeptFile, KeptFiles } from "../../../core/kept-files.ts";
import type { Batch } from "../batch.ts";
import { checkLine, isFault } from "../lines/check-line.ts";
import { readLines } from "../lines/read-lines.ts";
import type { Owner } from "../owner.ts";

const LF = Uint8Array.of(0x0a);

/** @returns the new file, which the batch holds; undefined: a file of the batch before is gone */
export async function retryInput(
  { id, endpoint, retries }: Pick<Batch, "id" | "endpoint" | "retries">,
  { path, key, person }: Owner,
  files: KeptFiles,
): Promise<KeptFile | undefined> {
  const [input, errors] = await Promise.all(
    [retries!.inputFile, retries!.errorFile].map((file) => files.find(file, undefined)),
  );
  if (!input || !errors) return undefined;
  const failed = await idsIn(files.read(errors));
  const facts = {
    ...{ path, name: `batch_${id}_input.jsonl`, purpose: "batch", mime: "application/jsonl" },
    ...(key !== undefined && { key }),
    ...(person !== undefined && { person }),
  };
  const made = await files.write(facts, linesOf(files.read(input), failed, endpoint));
  await files.hold(made.id, id);
  return made;
}

async function idsIn(chunks: AsyncIterable<Uint8Array>): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for await (const { bytes } of readLines(chunks)) {
    const json = parseJson(Buffer.from(bytes).toString());
    if (isObject(json) && typeof json["custom_id"] === "string") ids.add(json["custom_id"]);
  }
  return ids;
}

async function* linesOf(
  chunks: AsyncIterable<Uint8Array>,
  ids: ReadonlySet<string>,
  endpoint: string,
): AsyncGenerator<Uint8Array> {
  for await (const { bytes, number } of readLines(chunks)) {
    const line = checkLine(bytes, number, { endpoint });
    if (isFault(line) || !ids.has(line.customId)) continue;
    yield Uint8Array.from(bytes);
    yield LF;
  }
}
