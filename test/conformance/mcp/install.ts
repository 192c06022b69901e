/** The official suite, in a folder of the user's cache: nothing of it is part of the repository. */
import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

export const SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12";
/** The program that runs the suite, as npm has it for each platform: no script of a package runs. */
export const NODE = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}@22.23.3`;
/** What the suite's own reference server imports. */
const REFERENCE_NEEDS = ["@modelcontextprotocol/sdk@1.32.2", "express@5.3.0", "cors@2.8.6", "zod@4.6.7"];

export interface Installed {
  /** `node_modules` is in it. */
  readonly folder: string;
  readonly node: string;
  readonly suite: string;
}

/** Where things lie that scripts install: a folder for each set of packages. */
export function cacheFolder(name: string): string {
  const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  return join(cache, "weir-tests", name.replace(/[^\w.-]+/g, "-"));
}

/** Installs packages into a folder unless they are there. @throws Error with what the installer printed */
export async function installPackages(folder: string, packages: readonly string[]): Promise<void> {
  const done = join(folder, "installed");
  if (existsSync(done)) return;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await Bun.write(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const child = Bun.spawn([process.execPath, "add", "--exact", "--ignore-scripts", ...packages], {
    cwd: folder,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(`${packages.join(" ")} cannot be installed: ${out}${err}`);
  await Bun.write(done, packages.join("\n"));
}

export async function installSuite(): Promise<Installed> {
  const folder = cacheFolder(`mcp ${SUITE.slice(1)}`);
  await installPackages(folder, [SUITE, NODE, ...REFERENCE_NEEDS]);
  return {
    folder,
    node: nodeIn(folder),
    suite: join(folder, "node_modules/@modelcontextprotocol/conformance"),
  };
}

/** The program of {@link NODE} in a folder in which it was installed. */
export function nodeIn(folder: string): string {
  const program = process.platform === "win32" ? "node.exe" : "bin/node";
  return join(folder, "node_modules", NODE.slice(0, NODE.lastIndexOf("@")), program);
}
