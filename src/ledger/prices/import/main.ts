/**
 * `bun run prices MAP.json [SECOND.json] [--accept]`: makes the price book and the facts about models anew from LiteLLM's price
 * map, and prints what changed. SECOND is the list of genai-prices: to compare with, and for models that the map lacks. See README.md of the folder above.
 */
import type { FactLine } from "../fact-line.ts";
import { type FileHead, LineFile } from "../line-file.ts";
import { Snapshot } from "../snapshot.ts";
import { changes, jumps } from "./compare.ts";
import { convert, type MapEntry } from "./convert.ts";
import { convertFacts, withoutKnown } from "./convert-facts.ts";
import { SAME_AS } from "./providers.ts";
import { comingChanges, disagreements, missingLines } from "./second.ts";
import { nameOf, restOf, writeLines, writeSnapshot } from "./snapshot-text.ts";

const FILE = Bun.file(new URL("../prices.jsonl", import.meta.url));
const FACTS = Bun.file(new URL("../models.jsonl", import.meta.url));

const [first, second] = process.argv.slice(2).filter((word) => !word.startsWith("--"));
process.exitCode = first === undefined ? usage() : await run(first, second);

function usage(): number {
  console.error(
    "Usage: bun run prices MAP.json [SECOND.json] [--version=1.2.3] [--date=2026-11-20] [--accept]",
  );
  return 2;
}

async function run(mapFile: string, secondFile: string | undefined): Promise<number> {
  const head: FileHead = {
    source: "litellm",
    version: option("version") ?? "",
    licence: "MIT",
    date: option("date") ?? new Date().toISOString().slice(0, 10),
    sameAs: SAME_AS,
  };
  const map = (await Bun.file(mapFile).json()) as Record<string, MapEntry>;
  // Names with the prefix of their provider come first: they are the ones that the map's own readers look up.
  const keys = Object.keys(map).sort((one, other) => Number(other.includes("/")) - Number(one.includes("/")));
  const first = keys.flatMap((key) => convert(key, map[key]!) ?? []);
  const list = secondFile === undefined ? [] : await Bun.file(secondFile).json();
  const lines = [...first, ...missingLines(first, list, head.date, `genai-prices ${head.date}`)];
  const text = writeSnapshot(head, lines);
  const next = new Snapshot(text).lines();
  const before = (await FILE.exists()) ? new Snapshot(await FILE.text()).lines() : [];
  print("changed", changes(before, next));
  if (secondFile !== undefined) {
    print("different in the second table", disagreements(next, list, head.date));
    print("announced in the second table", comingChanges(next, list, head.date));
  }
  const jumped = jumps(before, next);
  print("more than five times dearer or cheaper", jumped);
  if (jumped.length > 0 && !process.argv.includes("--accept")) {
    console.error("Nothing was written. Compare these prices with the vendors' pages, then add --accept.");
    return 1;
  }
  await Bun.write(FILE, text);
  sizes("prices", next.length, text);
  await writeFacts(
    head,
    keys.flatMap((key) => convertFacts(key, map[key]!) ?? []),
    new Snapshot(text).buildIndex(),
  );
  return 0;
}

/** They decide nothing about money, so that no jump of them is refused. */
async function writeFacts(head: FileHead, lines: readonly FactLine[], prices: Snapshot): Promise<void> {
  const text = writeLines(
    head,
    lines.flatMap((line) => withoutKnown(line, prices) ?? []),
  );
  const next = new LineFile<FactLine>(text).lines();
  const before = (await FACTS.exists()) ? new LineFile<FactLine>(await FACTS.text()).lines() : [];
  const old = new Map(before.map((line) => [nameOf(line), restOf(line)]));
  const changed = next.filter((line) => old.get(nameOf(line)) !== restOf(line));
  print(
    "models with other facts",
    changed.map((line) => `${nameOf(line)} ${restOf(line)}`),
  );
  await Bun.write(FACTS, text);
  sizes("facts", next.length, text);
}

function sizes(what: string, count: number, text: string): void {
  console.log(`${what}: ${count} models, ${text.length} bytes, ${Bun.gzipSync(text).length} gzipped`);
}

function option(name: string): string | undefined {
  const found = process.argv.find((word) => word.startsWith(`--${name}=`));
  return found?.slice(name.length + 3);
}

function print(title: string, rows: readonly string[]): void {
  console.log(`${title}: ${rows.length}`);
  for (const row of rows) console.log(`  ${row}`);
}
