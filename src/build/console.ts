/** The console as the binary contains it: the script once more minified, because what a browser loads first is at most 80 KB gzipped. */
import type { BunPlugin } from "bun";
import { minify } from "terser";
import { type Bundle, bundleConsole } from "../admin/console/bundle.ts";

/** @param index path of `src/console/index.html` */
export async function buildConsole(index: string, plugins: readonly BunPlugin[] = []): Promise<Bundle> {
  const { files, inputs } = await bundleConsole(index, plugins);
  return {
    files: await Promise.all(
      files.map(async (file) =>
        file.name.endsWith(".js") ? { ...file, text: await minifyScript(file.text) } : file,
      ),
    ),
    inputs,
  };
}

/** Bun's minifier does not join, move or drop statements over as much code. */
async function minifyScript(text: string): Promise<string> {
  const { code } = await minify(text, {
    module: true,
    ecma: 2020,
    compress: { passes: 3, pure_getters: true, unsafe_arrows: true, unsafe_methods: true },
  });
  if (!code) throw new Error("the script of the console could not be minified");
  return code;
}
