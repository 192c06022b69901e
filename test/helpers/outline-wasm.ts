/** Assembles `src/stream/outline/outline.wat`. The result is kept beside it, so that neither source nor binary needs an assembler. */
import { join, resolve } from "node:path";
import wabt from "wabt";

const FOLDER = resolve(import.meta.dir, "../../src/stream/outline");

export const ASSEMBLED = join(FOLDER, "outline-wasm.ts");

export async function assembleOutline(): Promise<string> {
  const source = await Bun.file(join(FOLDER, "outline.wat")).text();
  const module = (await wabt()).parseWat("outline.wat", source, { simd: true });
  const bytes = module.toBinary({}).buffer;
  module.destroy();
  const lines = Buffer.from(bytes)
    .toString("base64")
    .match(/.{1,100}/g)!
    .map((line) => `  "${line}"`);
  return (
    "/** `outline.wat`, assembled: written by `UPDATE=1 bun test test/stream/outline.test.ts`. */\n" +
    `export const OUTLINE_WASM =\n${lines.join(" +\n")};\n`
  );
}
