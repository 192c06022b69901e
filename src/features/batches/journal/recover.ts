/**
 * Reads the journals of all runners of a batch. The newest runner whose first record is whole says how far the journals before it
 * count; what a runner without a lease appends to them later is ignored for ever, and so are journals that it does not name.
 */
import { type FileHandle, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { State } from "../batch.ts";
import { LineTable } from "./line-table.ts";
import { SubTable } from "./subs.ts";
import { decodeRecord, HEAD_BYTES, type JournalRecord, lengthOf, type Took } from "./record.ts";

export interface Recovered {
  readonly lines: LineTable;
  readonly subs: SubTable;
  /** The last state that a journal has. */
  readonly state?: { readonly state: State; readonly at: number };
  /** How far each journal counts, in bytes, by fencing number. */
  readonly journals: Readonly<Record<string, number>>;
}

/** The path of a file of a runner. */
export function pathOf(folder: string, what: "journal" | "out" | "err", fence: number): string {
  return join(folder, what === "journal" ? `journal-${fence}` : `${what}-${fence}.jsonl`);
}

/** Fencing numbers with a journal, the greatest first. */
export async function fencesIn(folder: string): Promise<number[]> {
  return (await readdir(folder))
    .flatMap((name) => /^journal-(\d+)$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => b - a);
}

/**
 * @param below reads the journals of lower fencing numbers; all journals if absent
 * @throws Error if a journal has lost records that a later runner had read
 */
export async function recover(folder: string, below = Infinity): Promise<Recovered> {
  const lines = new LineTable();
  const subs = new SubTable();
  let state: Recovered["state"];
  const journals: Record<string, number> = {};
  for (const [fence, limit] of await limitsIn(folder, below)) {
    const path = pathOf(folder, "journal", fence);
    const read = await readJournal(path, limit, (record) => {
      if (record.t === "start") lines.start(record);
      else if (record.t === "held") lines.hold(record);
      else if (record.t === "end") lines.end(record, fence);
      else if (record.t === "state") state = { state: record.s, at: record.at };
      else if (record.t !== "took") subs.note(record);
    });
    if (limit !== Infinity && read !== limit)
      throw new Error(`The journal ${path} is damaged: ${read} of its ${limit} bytes can be read.`);
    journals[fence] = read;
  }
  return { lines, subs, journals, ...(state && { state }) };
}

/** How far each journal counts, the oldest first; `Infinity` means to its first record that is not whole. */
async function limitsIn(folder: string, below: number): Promise<[fence: number, bytes: number][]> {
  for (const fence of (await fencesIn(folder)).filter((one) => one < below)) {
    const took = await readTook(pathOf(folder, "journal", fence));
    if (!took) continue;
    const earlier = Object.entries(took.journals).map(
      ([name, bytes]) => [Number(name), bytes] as [number, number],
    );
    return [...earlier.sort(([a], [b]) => a - b), [fence, Infinity]];
  }
  return [];
}

async function readTook(path: string): Promise<Took | undefined> {
  let first: JournalRecord | undefined;
  await readJournal(path, Infinity, (record) => {
    first = record;
    return "stop";
  });
  return first?.t === "took" ? first : undefined;
}

const CHUNK = 1024 * 1024;

/** @param take returns `stop` to read no further @returns the bytes of whole records within the limit */
async function readJournal(
  path: string,
  limit: number,
  take: (record: JournalRecord) => "stop" | void,
): Promise<number> {
  const file = await open(path);
  try {
    let done = 0;
    for (;;) {
      const bytes = await readAt(file, done, CHUNK);
      const used = takeRecords(bytes, Math.min(bytes.length, limit - done), take);
      done += used;
      if (used > 0) continue;
      // A record may be longer than a chunk.
      const length = bytes.length < HEAD_BYTES ? undefined : lengthOf(bytes);
      if (length === undefined || length <= bytes.length || done + length > limit) return done;
      const record = decodeWhole(await readAt(file, done, length), length);
      if (!record || take(record) === "stop") return done;
      done += length;
    }
  } finally {
    await file.close();
  }
}

function decodeWhole(bytes: Buffer, length: number): JournalRecord | undefined {
  return bytes.length === length ? decodeRecord(bytes) : undefined;
}

/** @returns the bytes of the records that were taken */
function takeRecords(bytes: Buffer, end: number, take: (record: JournalRecord) => "stop" | void): number {
  let at = 0;
  while (end - at >= HEAD_BYTES) {
    const length = lengthOf(bytes.subarray(at));
    if (length === undefined || at + length > end) break;
    const record = decodeRecord(bytes.subarray(at, at + length));
    if (!record || take(record) === "stop") break;
    at += length;
  }
  return at;
}

/** Fewer bytes at the end of the file. */
export async function readAt(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  let read = 0;
  while (read < length) {
    const { bytesRead } = await file.read(bytes, read, length - read, offset + read);
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  return bytes.subarray(0, read);
}
