/** The macro with the text of `weir.d.ts`: the bundler calls it, and puts its result into the binary. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The text, compressed, as base64: the binary would otherwise contain its 90 KB several times. */
export function packedTypes(): string {
  return Bun.gzipSync(readFileSync(join(import.meta.dir, "weir.d.txt"))).toBase64();
}
