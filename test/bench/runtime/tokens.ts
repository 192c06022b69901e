/**
 * `bun test/bench/runtime/tokens.ts [FILE ...]`: what the count of the most tokens takes for a character, as a loop with a branch
 * for each kind of character, and as the WebAssembly module. Needs texts that do not repeat: a processor learns a short text by
 * heart, and then predicts every branch. Without files it reads the documents of this repository.
 */
import { readFileSync } from "node:fs";
import { Glob } from "bun";
import { MostTokens } from "../../../src/core/tokens/most-tokens.ts";
import { BranchingTokens } from "../../helpers/branching-tokens.ts";

/** Characters of a text: a name of a member, a delta of a stream, a message, a file. */
const LENGTHS = [8, 30, 700, 20_000];
/** The compiler of the runtime needs some megabytes for its last stage. */
const ROUNDS = 100;
/** Characters of a round at most. */
const MOST = 200_000;

const files = process.argv.length > 2 ? process.argv.slice(2) : [...new Glob("src/**/README.md").scanSync()];
const all = files.map((file) => readFileSync(file, "utf8")).join("\n");

for (const length of LENGTHS) {
  const texts = piecesOf(all.slice(0, MOST), length);
  const times = { loop: Infinity, module: Infinity };
  for (let round = 0; round < ROUNDS; round++) {
    times.loop = Math.min(times.loop, timeOf(new BranchingTokens(), texts));
    times.module = Math.min(times.module, timeOf(new MostTokens(), texts));
  }
  const ratio = times.loop / times.module;
  console.log(
    `texts of ${length} characters: loop ${times.loop.toFixed(2)} ns a character, module ${times.module.toFixed(2)} ns, ${ratio.toFixed(1)} times faster`,
  );
}

/** Copies, as a parser makes them: a slice of a string refers to the whole. */
function piecesOf(text: string, length: number): string[] {
  const starts = Array.from({ length: Math.floor(text.length / length) }, (_, index) => index * length);
  return starts.map((start) => JSON.parse(JSON.stringify(text.slice(start, start + length))) as string);
}

/** @returns nanoseconds a character */
function timeOf(counts: MostTokens | BranchingTokens, texts: readonly string[]): number {
  const began = Bun.nanoseconds();
  let characters = 0;
  for (const text of texts) {
    counts.next();
    counts.add(text);
    characters += text.length;
  }
  return (Bun.nanoseconds() - began) / characters;
}
