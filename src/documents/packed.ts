/** The macro with the documents: the bundler calls it, and puts its result into the binary. */
import { join } from "node:path";
import { fullText } from "./full-text.ts";
import { indexText } from "./index-text.ts";
import { readLibrary } from "./library.ts";

/** Both texts as JSON, compressed, as base64. */
export function packedTexts(): string {
  const documents = readLibrary(join(import.meta.dir, "../.."));
  const texts = { index: indexText(documents), full: fullText(documents) };
  return Bun.gzipSync(Buffer.from(JSON.stringify(texts)), { level: 9 }).toBase64();
}
