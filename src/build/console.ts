/** The console as the binary contains it: the script once more minified, because what a browser loads first is at most 80 KB gzipped. */
import { dirname, resolve } from "node:path";
import type { BunPlugin } from "bun";
import { minify } from "terser";
import { type Bundle, bundleConsole } from "../admin/console/bundle.ts";

/** @param index path of `src/console/index.html` */
export async function buildConsole(index: string, plugins: readonly BunPlugin[] = []): Promise<Bundle> {
  const { later } = await bundleConsole(index, plugins);
  const { files, inputs } = await bundleConsole(index, [
    ...plugins,
    joined(later.map((path) => resolve(path))),
  ]);
  const minified = files.map(async (file) =>
    file.name.endsWith(".js") ? { ...file, text: await minifyScript(file.text) } : file,
  );
  return { files: await Promise.all(minified), inputs, later };
}

/** All that pages load when they are opened becomes one file: gzip finds the words of a page in the others, and saves a tenth. */
function joined(paths: readonly string[]): BunPlugin {
  return {
    name: "one file for later",
    setup(builder) {
      builder.onResolve({ filter: /-page\.tsx$/ }, ({ path, importer, kind }) =>
        kind === "dynamic-import" && paths.includes(resolve(dirname(importer), path))
          ? { path: "later", namespace: "later" }
          : undefined,
      );
      // A build must not depend on its folder, so the file has numbers in place of paths.
      builder.onResolve({ filter: /^later:\d+$/ }, ({ path }) => ({ path: paths[Number(path.slice(6))]! }));
      builder.onLoad({ filter: /.*/, namespace: "later" }, () => ({
        contents: paths.map((_, at) => `export * from "later:${at}";`).join("\n"),
        loader: "ts",
      }));
    },
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
