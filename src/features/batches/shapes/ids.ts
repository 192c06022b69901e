/** Ids of batches and files: one name for each thing, printed in the form of the client that asks. */

/** The vendors whose clients make and read batches. */
export type Dialect = "openai" | "anthropic" | "google";

const ID = "[0-9a-hjkmnp-tv-z]{26}";

const BATCH: Readonly<Record<Dialect, string>> = {
  openai: "batch_",
  anthropic: "msgbatch_",
  google: "batches/",
};
const FILE: Readonly<Record<Dialect, string>> = { openai: "file-", anthropic: "file_", google: "files/" };

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
