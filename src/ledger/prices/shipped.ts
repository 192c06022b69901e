/** The price book in the binary. */
import { readFileSync } from "node:fs";
import path from "./prices.jsonl" with { type: "file" };
import { Snapshot } from "./snapshot.ts";

let shipped: Snapshot | undefined;

/** Read at the first look-up. */
export function shippedSnapshot(): Snapshot {
  return (shipped ??= new Snapshot(readText()));
}

/** The build compresses the file. */
function readText(): string {
  const bytes = readFileSync(path);
  return (Bun.isStandaloneExecutable ? Buffer.from(Bun.gunzipSync(bytes)) : bytes).toString();
}
