/**
 * Builds the binary: `bun run build` for this machine (`dist/weir`), `bun run build --all` for every system
 * (`dist/weir-<os>-<arch>[-musl]`), `bun run build linux-arm64 …` for single ones.
 */
import { mkdirSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dir, "..");

const SYSTEMS = [
  "linux-x64",
  "linux-arm64",
  "linux-x64-musl",
  "linux-arm64-musl",
  "darwin-x64",
  "darwin-arm64",
  "windows-x64",
] as const;

type System = (typeof SYSTEMS)[number];

async function build(system: System | undefined): Promise<void> {
  const name = system ? `weir-${system}${system.startsWith("windows") ? ".exe" : ""}` : "weir";
  const outfile = join(ROOT, "dist", name);
  const started = performance.now();
  const result = await Bun.build({
    entrypoints: [join(ROOT, "src/main.ts")],
    target: "bun",
    minify: true,
    bytecode: true,
    sourcemap: "inline",
    compile: {
      ...(system && { target: `bun-${system}` as Bun.Build.CompileTarget }),
      outfile,
      // The binary reads nothing from the folder it is started in (runtime finding 12).
      autoloadDotenv: false,
      autoloadBunfig: false,
      autoloadTsconfig: false,
      autoloadPackageJson: false,
    },
  });
  for (const message of result.logs) console.error(String(message));
  if (!result.success) throw new Error(`${name} was not built.`);
  // The map is inside the executable; nothing stands beside it.
  rmSync(`${outfile}.map`, { force: true });
  const megabytes = (statSync(outfile).size / 1e6).toFixed(1);
  console.log(`dist/${name}  ${megabytes} MB  ${Math.round(performance.now() - started)} ms`);
}

function chosen(args: readonly string[]): (System | undefined)[] {
  if (args.length === 0) return [undefined];
  if (args.includes("--all")) return [...SYSTEMS];
  const unknown = args.find((arg) => !SYSTEMS.includes(arg as System));
  if (unknown !== undefined) {
    console.error(`There is no system "${unknown}"; there are ${SYSTEMS.join(", ")}, and --all.`);
    process.exit(2);
  }
  return args as System[];
}

mkdirSync(join(ROOT, "dist"), { recursive: true });
for (const system of chosen(process.argv.slice(2))) await build(system);
