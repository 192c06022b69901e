/** Assembles modules in WebAssembly text. The result is kept beside the text, so that neither source nor binary needs an assembler. */
import { basename, resolve } from "node:path";
import wabt from "wabt";

const ROOT = resolve(import.meta.dir, "../..");

export interface WasmModule {
  /** The text, and the module that is made of it. Full paths. */
  text: string;
  assembled: string;
  /** The constant with the base64 of the module. */
  constant: string;
  /** The test that writes the module, with `UPDATE=1`. From the root of the project. */
  writtenBy: string;
}

export const OUTLINE: WasmModule = {
  text: resolve(ROOT, "src/stream/outline/outline.wat"),
  assembled: resolve(ROOT, "src/stream/outline/outline-wasm.ts"),
  constant: "OUTLINE_WASM",
  writtenBy: "test/stream/outline.test.ts",
};

export const MOST_TOKENS: WasmModule = {
  text: resolve(ROOT, "src/core/tokens/most-tokens.wat"),
  assembled: resolve(ROOT, "src/core/tokens/most-tokens-wasm.ts"),
  constant: "MOST_TOKENS_WASM",
  writtenBy: "test/core/most-tokens.test.ts",
};

/** @returns the source of the file that holds the module */
export async function assemble({ text, constant, writtenBy }: WasmModule): Promise<string> {
  const name = basename(text);
  const module = (await wabt()).parseWat(name, await Bun.file(text).text(), { simd: true });
  const bytes = module.toBinary({}).buffer;
  module.destroy();
  const lines = Buffer.from(bytes)
    .toString("base64")
    .match(/.{1,100}/g)!
    .map((line) => `  "${line}"`);
  return (
    `/** \`${name}\`, assembled: written by \`UPDATE=1 bun test ${writtenBy}\`. */\n` +
    `export const ${constant} =\n${lines.join(" +\n")};\n`
  );
}
