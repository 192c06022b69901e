/** Ids of batches and files: one name for each thing, printed in the form of the client that asks. */
import { randomFillSync } from "node:crypto";

/** The vendors whose clients make and read batches. */
export type Dialect = "openai" | "anthropic" | "google";

/** Crockford's base32 in lower case, which is legal in the names of all three. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const ID = "[0-9a-hjkmnp-tv-z]{26}";

const BATCH: Readonly<Record<Dialect, string>> = {
  openai: "batch_",
  anthropic: "msgbatch_",
  google: "batches/",
};
const FILE: Readonly<Record<Dialect, string>> = { openai: "file-", anthropic: "file_", google: "files/" };

/** A new id of 26 characters, ten of which say when, so that ids of later milliseconds are greater. @param at milliseconds since 1970 */
export function newId(at: number): string {
  let time = "";
  for (let rest = at; time.length < 10; rest = Math.floor(rest / 32)) time = ALPHABET[rest % 32]! + time;
  return time + [...randomFillSync(new Uint8Array(16))].map((byte) => ALPHABET[byte % 32]).join("");
}

export function batchIdFor(dialect: Dialect, id: string): string {
  return BATCH[dialect] + id;
}

/** The id of a batch in the form of any dialect, or without a prefix; undefined for other texts. */
export function batchIdIn(text: string): string | undefined {
  return new RegExp(`^(?:batch_|msgbatch_|batches/)?(${ID})$`).exec(text)?.[1];
}

export function fileIdFor(dialect: Dialect, id: string): string {
  return FILE[dialect] + id;
}

/** The id of a file in the form of any dialect, or without a prefix; undefined for other texts. */
export function fileIdIn(text: string): string | undefined {
  return new RegExp(`^(?:file-|file_|files/)?(${ID})$`).exec(text)?.[1];
}
