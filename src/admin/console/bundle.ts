/** Bundles the console: at the first request from source, and when the binary is built. */

export interface BundledFile {
  name: string;
  /** Media type. */
  type: string;
  text: string;
}

export interface Bundle {
  /** The document, its scripts, of which pages load some when they are opened, its style sheet and its icon. */
  files: BundledFile[];
  /** Paths of the sources, also those of packages. */
  inputs: string[];
  /** Paths of those that pages load when they are opened. */
  later: string[];
}

/**
 * Elements are calls of `h` with their children as arguments, which is shorter than what an automatic runtime writes: it names
 * the children of each element. The settings of TypeScript say otherwise, so each file does.
 */
const SHORT = `/** @jsxRuntime classic @jsx h @jsxFrag Fragment */ import { Fragment, h } from "preact";`;
const shortElements: Bun.BunPlugin = {
  name: "short elements",
  setup(builder) {
    builder.onLoad({ filter: /\/src\/(features\/[^/]+\/)?console\/.*\.tsx$/ }, async ({ path }) => ({
      contents: SHORT + (await Bun.file(path).text()),
      loader: "tsx",
    }));
  },
};

/** @param index path of `src/console/index.html` */
export async function bundleConsole(index: string, more: readonly Bun.BunPlugin[] = []): Promise<Bundle> {
  const { outputs, metafile } = await Bun.build({
    entrypoints: [index],
    target: "browser",
    minify: true,
    splitting: true,
    plugins: [shortElements, ...more],
    metafile: true,
    naming: { entry: "[name]-[hash].[ext]", chunk: "[name]-[hash].[ext]", asset: "[name]-[hash].[ext]" },
  });
  const files = outputs.map(async (file) => ({
    name: file.path.slice(file.path.lastIndexOf("/") + 1),
    type: file.type,
    text: await file.text(),
  }));
  const inputs = metafile?.inputs ?? {};
  const imports = Object.values(inputs).flatMap((input) => input.imports);
  const later = new Set(imports.flatMap((one) => ("entryPoint" in one ? [String(one.entryPoint)] : [])));
  return { files: await Promise.all(files), inputs: Object.keys(inputs), later: [...later].sort() };
}
