/**
 * Writes the outlines by which releases are compared: `bun src/features/rehearse/test/recorded/make-release.ts`. They are those of
 * recorded requests, chosen so that each brings members that no other one has, and the smallest ones of each format.
 * `--all FILE` writes the outlines of all recorded requests.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { haveRecordings, NO_RECORDINGS } from "../../../../../test/helpers/recordings.ts";
import { isObject, type Json } from "../../../../core/json.ts";
import type { Outline } from "../../outline/outline.ts";
import { outlinedRecordings } from "./outlines.ts";

/** Most that the file may have. Bytes. */
const MOST = 300_000;
/** A larger outline would take the place of many. Bytes. */
const MOST_OF_ONE = 8_000;

const FILE = join(import.meta.dir, "../../release/outlines.jsonl");

if (!haveRecordings) throw new Error(NO_RECORDINGS);
const all = outlinedRecordings().map(({ outline }) => outline);
const named = process.argv.indexOf("--all");
const chosen = named < 0 ? choose(all) : all;
const text = chosen.map((outline) => `${JSON.stringify(outline)}\n`).join("");
writeFileSync(named < 0 ? FILE : process.argv[named + 1]!, text);
console.log(`${chosen.length} outlines of ${all.length}, ${text.length} bytes`);

/** The smallest first: each one that brings a path of members, then others until the file is full. */
function choose(outlines: readonly Outline[]): Outline[] {
  const sized = outlines
    .map((outline) => ({ outline, bytes: Buffer.byteLength(JSON.stringify(outline)) + 1 }))
    .filter(({ bytes }) => bytes < MOST_OF_ONE)
    .sort((a, b) => a.bytes - b.bytes);
  const seen = new Set<string>();
  const bringing = sized.filter(({ outline }) => {
    const found = [...shapesOf(outline.body, outline.format)].filter((path) => !seen.has(path));
    for (const path of found) seen.add(path);
    return found.length > 0;
  });
  const chosen = new Set<Outline>();
  let left = MOST;
  for (const { outline, bytes } of [...bringing, ...sized]) {
    if (chosen.has(outline) || bytes > left) continue;
    chosen.add(outline);
    left -= bytes;
  }
  return outlines.filter((outline) => chosen.has(outline));
}

/** Paths of members and types of values, without the names of tools' own members. */
function* shapesOf(value: Json, path: string, depth = 0): Generator<string> {
  if (Array.isArray(value)) {
    for (const one of value) yield* shapesOf(one, `${path}[]`, depth + 1);
  } else if (isObject(value)) {
    const type = typeof value["type"] === "string" ? `<${value["type"]}>` : "";
    for (const [name, one] of Object.entries(value))
      if (depth < 6) yield* shapesOf(one!, `${path}${type}.${name}`, depth + 1);
  } else yield `${path}:${typeof value}`;
}
