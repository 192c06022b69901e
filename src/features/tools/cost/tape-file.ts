/** Reads the answers of models from a tape. */
import type { TapeEntry } from "../../../gateway/recording/entry.ts";
import { VERSION } from "../../../process/version.ts";
import { readTape } from "../../../tapes/file.ts";

/** @returns them in their order @throws Error with one sentence if the file is no tape that this weir can read */
export function readCalls(path: string): TapeEntry[] {
  return readTape(path, VERSION).filter(({ operation }) => operation === "generate");
}
