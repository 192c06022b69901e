/**
 * Builds the binary: `bun run build` for this machine (`dist/weir`), `bun run build --all` for every system
 * (`dist/weir-<os>-<arch>[-musl]`), `bun run build linux-arm64 …` for selected systems. `dist/weir.cdx.json` lists the
 * packages in the binary. `--without a,b` leaves features out, `--out FILE` writes the binary elsewhere.
 */
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { BunPlugin } from "bun";
import type { BundledFile } from "../admin/console/bundle.ts";
import { type Feature, featuresIn } from "../feature/feature.ts";
import * as features from "../features.ts";
import { buildConsole } from "./console.ts";
import { signAdHoc } from "./mach-o.ts";
import type { System } from "./systems.ts";
import { binaryName, SYSTEMS, systemsOf } from "./systems.ts";
import { billOfMaterials } from "./sbom.ts";
import { featuresWithout, withoutFeatures, withoutPages } from "./without.ts";

const ROOT = resolve(import.meta.dir, "../..");

/** Elysia imports `file-type` for schemas with files. weir has none, and the package has ten dependencies, so it is excluded. */
const withoutFileType: BunPlugin = {
  name: "without file-type",
  setup(builder) {
    builder.onResolve({ filter: /^file-type$/ }, ({ path }) => ({ path, namespace: "left-out" }));
    builder.onLoad({ filter: /.*/, namespace: "left-out" }, () => ({ contents: "export {};", loader: "js" }));
  },
};

/** The price book and the facts about models repeat their words, and compress to a tenth. */
const packedPrices: BunPlugin = {
  name: "packed prices",
  setup(builder) {
    builder.onLoad({ filter: /\/(prices|models)\.jsonl$/ }, ({ path }) => ({
      contents: Bun.gzipSync(readFileSync(path), { level: 9 }),
      loader: "file",
    }));
  },
};

/** The console as it is served: without a source map, which would be larger than the files. */
const packedConsole = (files: readonly BundledFile[]): BunPlugin => ({
  name: "packed console",
  setup(builder) {
    builder.onResolve({ filter: /\/console\/index\.html$/ }, () => ({
      path: "console.gz",
      namespace: "packed",
    }));
    builder.onLoad({ filter: /.*/, namespace: "packed" }, () => ({
      contents: Bun.gzipSync(JSON.stringify(files), { level: 9 }),
      loader: "file",
    }));
  },
});

interface Wanted {
  system: System | undefined;
  /** Path of the binary. */
  outfile: string;
  /** Features that the build leaves out. */
  left: readonly Feature[];
  /** Of all that are built: "2 of 7". */
  place: string;
}

async function build({ system, outfile, left, place }: Wanted): Promise<void> {
  const name = relative(ROOT, outfile).startsWith("..") ? outfile : relative(ROOT, outfile);
  const folder = dirname(outfile);
  mkdirSync(folder, { recursive: true });
  console.log(`building ${name} (${place}) …`);
  const started = performance.now();
  // A build inside a plugin of another one does not end.
  const page = await buildConsole(join(ROOT, "src/console/index.html"), [withoutPages(left, ROOT)]);
  const result = await Bun.build({
    entrypoints: [join(ROOT, "src/main.ts")],
    target: "bun",
    // A start evaluates only the chunks that it needs, and modules in one chunk share one scope.
    format: "esm",
    splitting: true,
    minify: true,
    bytecode: true,
    sourcemap: "inline",
    metafile: true,
    plugins: [withoutFileType, packedPrices, packedConsole(page.files), withoutFeatures(left, ROOT)],
    // Otherwise the build folder would be part of the binary, and builds in different folders would differ.
    define: { "import.meta.url": '"file:///weir"' },
    compile: {
      ...(system && { target: `bun-${system}` as Bun.Build.CompileTarget }),
      outfile,
      // The binary must not read config files from the folder it is started in.
      autoloadDotenv: false,
      autoloadBunfig: false,
      autoloadTsconfig: false,
      autoloadPackageJson: false,
    },
  });
  for (const message of result.logs) console.error(String(message));
  if (!result.success) throw new Error(`${name} was not built.`);
  // The source maps are inside the executable. The builder leaves copies beside it.
  for (const file of new Bun.Glob("*.map").scanSync(folder)) rmSync(join(folder, file));
  // The builder signs only ARM executables, for which macOS requires a signature.
  if (system === "darwin-x64") writeFileSync(outfile, signAdHoc(readFileSync(outfile), "weir"));
  const materials = billOfMaterials([...Object.keys(result.metafile?.inputs ?? {}), ...page.inputs], ROOT);
  writeFileSync(join(folder, "weir.cdx.json"), `${JSON.stringify(materials, null, 2)}\n`);
  const megabytes = (statSync(outfile).size / 1e6).toFixed(1);
  console.log(`${name}  ${megabytes} MB  ${Math.round(performance.now() - started)} ms`);
}

const HELP = `Usage: bun run build [SYSTEM …] [FLAGS]

  --all            every system: ${SYSTEMS.join(", ")}
  --without NAMES  leave features out: --without a,b
  --out FILE       write the binary there, with weir.cdx.json beside it
  --help           print this help

Without a system, dist/weir is built for this machine.`;

/** @throws Error with one sentence */
function chosen(args: readonly string[]): Omit<Wanted, "place">[] | undefined {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      all: { type: "boolean" },
      out: { type: "string" },
      help: { type: "boolean", short: "h" },
      without: { type: "string", multiple: true },
    },
  });
  if (values.help) return undefined;
  const names = (values.without ?? []).flatMap((list) => list.split(",").map((name) => name.trim()));
  const { left } = featuresWithout(names, featuresIn(features));
  const named = positionals.length > 0 ? systemsOf(positionals) : [undefined];
  const systems = values.all ? [...SYSTEMS] : named;
  if (values.out !== undefined && systems.length > 1)
    throw new Error("--out is one file: build one system with it.");
  return systems.map((system) => ({
    ...{ system, left },
    outfile: resolve(values.out ?? join(ROOT, "dist", system ? binaryName(system) : "weir")),
  }));
}

function read(args: readonly string[]): ReturnType<typeof chosen> {
  try {
    return chosen(args);
  } catch (cause) {
    console.error((cause as Error).message);
    process.exit(2);
  }
}

const wanted = read(process.argv.slice(2));
for (const [index, one] of (wanted ?? []).entries())
  await build({ ...one, place: `${index + 1} of ${wanted!.length}` });
if (!wanted) console.log(HELP);
