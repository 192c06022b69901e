/**
 * Makes what a release consists of, in `dist/release`: `bun run release --all` for every system, `bun run release linux-x64 …`
 * for selected ones. `--packed` packs what `dist` holds instead of building it first.
 *
 * The same sources give the same bytes. `SOURCE_DATE_EPOCH` (seconds since 1970) is the time of the files in the archives.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { archive } from "./archive.ts";
import { checksums, sha256 } from "./checksums.ts";
import { commonFiles } from "./contents.ts";
import { installScript } from "./install-script.ts";
import type { System } from "./systems.ts";
import { archiveName, binaryName, SYSTEMS, systemsOf } from "./systems.ts";
import { assertTag } from "./tag.ts";

const ROOT = resolve(import.meta.dir, "../..");
const FOLDER = join(ROOT, "dist/release");

/** The first time that zip knows: 1980-01-01. */
const DEFAULT_SECONDS = Date.UTC(1980, 0, 1) / 1000;

function makeRelease(systems: readonly System[], env: NodeJS.ProcessEnv): void {
  assertTag(env);
  const seconds = Number(env["SOURCE_DATE_EPOCH"] ?? DEFAULT_SECONDS);
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  const digests = new Map<string, string>();
  const write = (name: string, bytes: Uint8Array) => {
    writeFileSync(join(FOLDER, name), bytes);
    digests.set(name, sha256(bytes));
    console.log(`dist/release/${name}  ${(bytes.length / 1e6).toFixed(1)} MB`);
  };
  const others = commonFiles(ROOT, env["GITHUB_REPOSITORY"]);
  for (const system of systems)
    write(
      archiveName(system),
      archive(system, readFileSync(join(ROOT, "dist", binaryName(system))), others, seconds),
    );
  write("weir.cdx.json", readFileSync(join(ROOT, "dist/weir.cdx.json")));
  write("install.sh", Buffer.from(installScript(ROOT, env["GITHUB_REPOSITORY"])));
  writeFileSync(join(FOLDER, "SHA256SUMS"), checksums(digests));
}

/** @throws Error if the build fails */
function build(systems: readonly System[]): void {
  const built = Bun.spawnSync([process.execPath, join(ROOT, "src/build/main.ts"), ...systems], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (built.exitCode !== 0) throw new Error(`The build ended with exit code ${built.exitCode}.`);
}

const args = process.argv.slice(2);
try {
  const named = systemsOf(args.filter((arg) => !["--all", "--packed"].includes(arg)));
  const systems = args.includes("--all") ? SYSTEMS : named;
  if (systems.length === 0) throw new Error(`Name systems, or --all for each of ${SYSTEMS.join(", ")}.`);
  if (!args.includes("--packed")) build(systems);
  makeRelease(systems, process.env);
} catch (cause) {
  console.error(cause instanceof Error ? cause.message : cause);
  process.exitCode = 1;
}
