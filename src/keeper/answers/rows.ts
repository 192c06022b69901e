/** A stored answer as rows of two tables. Both databases have the same columns. */
import type { Asks, PackedAmendment, PackedAnswer, PackedItem } from "../protocol.ts";
import type { Limits } from "../settings.ts";

/** The answers of a chain are in memory together, so a chain also has a maximum size. Bytes before compression. */
export const CHAIN_BYTES = 128 * 1024 * 1024;
/** Answers that one transaction deletes. */
export const SWEPT = 500;

/** Sorts behind every character of an id. */
export const LAST = "~";

export const INPUT = 0;
export const OUTPUT = 1;
/** Rows of notes. They are no items: clients neither list nor name them. */
export const NOTES = 2;

export interface AnswerRow {
  id: string;
  owner: string;
  deployment: string | null;
  parent: string | null;
  model: string;
  status: string;
  created: number;
  expires: number;
  bytes: number;
  body: Uint8Array | null;
}

export interface ItemRow {
  side: number;
  id: string;
  value: Uint8Array;
}

/** The compressed parts of an answer; `bytes` is their size before. */
export interface Compressed {
  bytes: number;
  body: Uint8Array | null;
  rows: [side: number, seq: number, id: string, value: Uint8Array][];
}

/** @param maxBytes maximum size before compression @returns undefined for an answer above the limits */
export function compressAnswer(
  { body, input, output, notes = [] }: PackedAnswer,
  limits: Limits,
  maxBytes = limits.answerBytes,
): Compressed | undefined {
  const bytes = [body, ...input.map(valueOf), ...output.map(valueOf), ...notes.map(valueOf)].reduce(
    (sum, value) => sum + (value?.byteLength ?? 0),
    0,
  );
  if (bytes > maxBytes || input.length > limits.items) return undefined;
  const rows = (side: number, all: readonly PackedItem[]) =>
    all.map(({ id, value }, seq): [number, number, string, Uint8Array] => [side, seq, id, zip(value)]);
  return {
    bytes,
    body: body ? zip(body) : null,
    rows: [...rows(INPUT, input), ...rows(OUTPUT, output), ...rows(NOTES, notes)],
  };
}

/**
 * What is to be said of a change without making it; `undefined` if it is to be made.
 * @param canDrop there is an item to remove @param has whether the answer has an input item with an id
 */
export function verdictOn(
  { add, drop, again }: Pick<Asks["amend"], "add" | "drop" | "again">,
  canDrop: boolean,
  has: (id: string) => boolean,
): "stored" | "taken" | "unknown" | undefined {
  const ids = add.map(({ id }) => id);
  const isMade = ids[0] === undefined ? drop !== undefined && !canDrop : has(ids[0]);
  if (again && isMade) return "stored";
  if (drop !== undefined && !canDrop) return "unknown";
  return new Set(ids).size < ids.length || ids.some(has) ? "taken" : undefined;
}

/** The changed columns of an answer, and the rows to add. */
export interface Amended {
  bytes: number;
  body: Uint8Array | null;
  expires: number;
  rows: [side: number, seq: number, id: string, value: Uint8Array][];
}

/** Positions behind the last input item and the last note. */
export interface Next {
  input: number;
  notes: number;
}

/** @param last the last position of each side */
export function nextOf(last: readonly { side: number; seq: number }[]): Next {
  const of = (wanted: number) => (last.find(({ side }) => side === wanted)?.seq ?? -1) + 1;
  return { input: of(INPUT), notes: of(NOTES) };
}

function rowsOf(side: number, first: number, items: readonly PackedItem[]): Amended["rows"] {
  return items.map(({ id, value }, index) => [side, first + index, id, zip(value)]);
}

/**
 * @param dropped compressed values of the items that are removed @param next positions of the first new item and note
 * @param maxBytes maximum size of the answer then, before compression
 * @returns undefined for an answer above the limits
 */
export function amend(
  row: AnswerRow,
  { add, notes = [], body, expires = 0 }: PackedAmendment,
  dropped: readonly Uint8Array[],
  next: Next,
  limits: Limits,
  maxBytes = CHAIN_BYTES,
): Amended | undefined {
  const added = [...add, ...notes].reduce((sum, { value }) => sum + value.byteLength, body?.byteLength ?? 0);
  const replaced = body && row.body ? [...dropped, row.body] : dropped;
  const bytes = replaced.reduce((sum, value) => sum - unzip(value).byteLength, row.bytes + added);
  if (added > limits.answerBytes || (added > 0 && bytes > maxBytes) || add.length > limits.items)
    return undefined;
  return {
    bytes,
    body: body ? zip(body) : row.body,
    expires: Math.max(row.expires, expires),
    rows: [...rowsOf(INPUT, next.input, add), ...rowsOf(NOTES, next.notes, notes)],
  };
}

export function toAnswer({
  deployment,
  parent,
  body,
  bytes: _,
  ...row
}: AnswerRow): Omit<PackedAnswer, "input" | "output" | "notes"> {
  return {
    ...row,
    ...(deployment !== null && { deployment }),
    ...(parent !== null && { parent }),
    ...(body !== null && { body: unzip(body) }),
  };
}

export function toItem({ id, value }: Pick<ItemRow, "id" | "value">): PackedItem {
  return { id, value: unzip(value) };
}

/** @param rows of one answer, in order */
export function toSides(rows: readonly ItemRow[]): Pick<PackedAnswer, "input" | "output" | "notes"> {
  const of = (side: number) => rows.filter((row) => row.side === side).map(toItem);
  const notes = of(NOTES);
  return { input: of(INPUT), output: of(OUTPUT), ...(notes.length > 0 && { notes }) };
}

function valueOf({ value }: PackedItem): Uint8Array {
  return value;
}

function zip(value: Uint8Array): Uint8Array {
  return Bun.zstdCompressSync(value);
}

function unzip(value: Uint8Array): Uint8Array {
  return Bun.zstdDecompressSync(value);
}
