/** Tapes that are kept in the state folder, by their ids. */
import { existsSync, readdirSync } from "node:fs";

const FOLDER = "runs";
const ENDING = ".tape";
const ID = /^[a-z0-9]{1,32}$/;

/** The file of a tape. @param folder the state folder */
export function keptFile(folder: string, id: string): string {
  return `${folder}/${FOLDER}/${id}${ENDING}`;
}

/** The ids of the tapes in a state folder. */
export function keptIds(folder: string): string[] {
  if (!existsSync(`${folder}/${FOLDER}`)) return [];
  return readdirSync(`${folder}/${FOLDER}`)
    .filter((name) => name.endsWith(ENDING))
    .map((name) => name.slice(0, -ENDING.length))
    .filter((id) => ID.test(id))
    .sort();
}

/**
 * The file that a word names: the file itself, or that of a kept tape with this id.
 * @param path the word as a path @param state finds the state folder, if one is needed; undefined: there is none
 */
export function tapeFile(word: string, path: string, state: () => string | undefined): string {
  if (existsSync(path) || !ID.test(word)) return path;
  const folder = state();
  const kept = folder === undefined ? path : keptFile(folder, word);
  return existsSync(kept) ? kept : path;
}
