/** What outlines there are, without reading them as JSON. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { outlineFolder } from "../keep/files.ts";
import type { RehearsalOutlines } from "./contracts.ts";
import type { Rehearsals } from "./slots.ts";

const NEWLINE = 10;
/** An outline begins with its version and the time of its call. Bytes. */
const HEAD = 200;

export async function summarize({ folder, counted }: Rehearsals): Promise<RehearsalOutlines> {
  const place = folder === undefined ? undefined : outlineFolder(folder);
  const names = place === undefined || !existsSync(place) ? [] : readdirSync(place);
  const files = names.filter((name) => name.endsWith(".jsonl")).sort();
  let [number, bytes, newest] = [0, 0, 0];
  for (const name of files) {
    const path = join(place!, name);
    const { size, mtimeMs } = statSync(path);
    const known = counted.get(name);
    const lines = known?.bytes === size ? known.lines : await linesOf(path);
    counted.set(name, { bytes: size, lines });
    number += lines;
    bytes += size;
    newest = Math.max(newest, Math.round(mtimeMs));
  }
  for (const name of counted.keys()) if (!files.includes(name)) counted.delete(name);
  if (number === 0) return { number, bytes };
  const head = await Bun.file(join(place!, files[0]!)).slice(0, HEAD).text();
  const oldest = Number(/"at":(\d+)/.exec(head)?.[1] ?? newest);
  return { number, bytes, oldest, newest };
}

async function linesOf(path: string): Promise<number> {
  let lines = 0;
  for await (const chunk of Bun.file(path).stream())
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) lines++;
  return lines;
}
