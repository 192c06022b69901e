/** The price book and the facts about models in the binary. Each is read at its first look-up. */
import { readFileSync } from "node:fs";
import type { FactLine } from "./fact-line.ts";
import { LineFile } from "./line-file.ts";
import modelsPath from "./models.jsonl" with { type: "file" };
import pricesPath from "./prices.jsonl" with { type: "file" };
import { Snapshot } from "./snapshot.ts";

let prices: Snapshot | undefined;
let models: LineFile<FactLine> | undefined;

export function shippedSnapshot(): Snapshot {
  return (prices ??= new Snapshot(textOf(pricesPath)));
}

/** Only lists of models need it. */
export function shippedModels(): LineFile<FactLine> {
  return (models ??= new LineFile(textOf(modelsPath)));
}

/** The build compresses the files. */
function textOf(path: string): string {
  const bytes = readFileSync(path);
  return (Bun.isStandaloneExecutable ? Buffer.from(Bun.gunzipSync(bytes)) : bytes).toString();
}
