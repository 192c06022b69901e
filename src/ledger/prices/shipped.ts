/** The price book in the binary. */
import { readFileSync } from "node:fs";
import path from "./prices.jsonl" with { type: "file" };
import { Snapshot } from "./snapshot.ts";

let shipped: Snapshot | undefined;

/** Read at the first look-up. */
export function shippedSnapshot(): Snapshot {
  return (shipped ??= new Snapshot(readFileSync(path, "utf8")));
}
