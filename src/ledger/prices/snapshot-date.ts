/** The macro with the date of the shipped price book: the bundler calls it, so that the start reads no file for it. */
import { readFileSync } from "node:fs";
import { Snapshot } from "./snapshot.ts";

/** `2026-11-20` */
export function snapshotDate(): string {
  return new Snapshot(readFileSync(`${import.meta.dir}/prices.jsonl`, "utf8")).head.date;
}
