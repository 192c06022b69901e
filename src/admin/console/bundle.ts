/** Bundles the console: at the first request from source, and when the binary is built. */

export interface BundledFile {
  name: string;
  /** Media type. */
  type: string;
  text: string;
}

export interface Bundle {
  /** The document, its script, its style sheet and its icon. */
  files: BundledFile[];
  /** Paths of the sources, also those of packages. */
  inputs: string[];
}

/** @param index path of `src/console/index.html` */
export async function bundleConsole(index: string): Promise<Bundle> {
  const { outputs, metafile } = await Bun.build({
    entrypoints: [index],
    target: "browser",
    minify: true,
    // Elements would carry what only a debugger of React reads.
    jsx: { development: false },
    metafile: true,
    naming: { entry: "[name]-[hash].[ext]", chunk: "[name]-[hash].[ext]", asset: "[name]-[hash].[ext]" },
  });
  const files = outputs.map(async (file) => ({
    name: file.path.slice(file.path.lastIndexOf("/") + 1),
    type: file.type,
    text: await file.text(),
  }));
  return { files: await Promise.all(files), inputs: Object.keys(metafile?.inputs ?? {}) };
}
