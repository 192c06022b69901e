/**
 * `bun run setup`: copies the executable that `bun run build` wrote to a folder for programs, so that `weir` works in every
 * folder. The folder is `~/.local/bin`, or `WEIR_INSTALL_DIR`, as for the install script of a release.
 */
import { chmodSync, copyFileSync, mkdirSync, renameSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { VERSION } from "../process/version.ts";

const NAME = process.platform === "win32" ? "weir.exe" : "weir";

/** @returns what to tell the user */
function install(built: string, env: NodeJS.ProcessEnv): string {
  const folder = resolve(env["WEIR_INSTALL_DIR"] || join(homedir(), ".local/bin"));
  const path = join(folder, NAME);
  mkdirSync(folder, { recursive: true });
  // A running executable cannot be overwritten, but replaced.
  copyFileSync(built, `${path}.new`);
  chmodSync(`${path}.new`, 0o755);
  renameSync(`${path}.new`, path);
  const isFound = (env["PATH"] ?? "").split(delimiter).includes(folder);
  const hint = isFound ? "" : `\n${folder} is not in PATH. Add it: export PATH="${folder}:$PATH"`;
  return `weir ${VERSION} is installed: ${path}${hint}`;
}

console.log(install(resolve(import.meta.dir, "../../dist", NAME), process.env));
