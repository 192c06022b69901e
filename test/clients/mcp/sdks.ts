/** The libraries that are paired, and how each is installed and run. */
import { copyFile, cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { cacheFolder, installPackages, NODE, nodeIn } from "../../conformance/mcp/install.ts";
import { install } from "../programs.ts";

const SOURCES = join(import.meta.dir, "sdks");

export interface Sdk {
  /** As tables name it. */
  readonly name: string;
  /** Name of its server in the configuration of weir. */
  readonly server: string;
  /** Of a server that speaks both eras weir would use that of the client: then no legacy client would reach a modern server. */
  readonly era?: "modern";
  /** Installs it below a folder. @returns the command to which `serve PORT FILE` or `call URL MARK` is added */
  prepare(folder: string): Promise<string[]>;
}

const NPM = [
  NODE,
  "@modelcontextprotocol/sdk@1.32.2",
  "@modelcontextprotocol/client@2.4.0",
  "@modelcontextprotocol/node@2.1.2",
  "@modelcontextprotocol/server@2.4.0",
  "zod@4.6.7",
];

/** Programs of Node look for their packages from where they lie. */
async function javascript(folder: string, program: string): Promise<string[]> {
  const place = join(folder, "npm");
  await installPackages(place, NPM);
  for (const name of [program, "checks.mjs"]) await copyFile(join(SOURCES, name), join(place, name));
  return [nodeIn(place), join(place, program)];
}

async function python(folder: string, version: string, program: string): Promise<string[]> {
  const place = join(folder, `mcp-${version}`);
  await install("python", place, [`mcp==${version}`]);
  return [join(place, "bin/python"), "-B", join(SOURCES, program)];
}

/** Builds the program of Go where its modules were fetched. @throws Error with what the compiler said */
async function golang(folder: string): Promise<string[]> {
  const place = join(folder, "go");
  await mkdir(place, { recursive: true });
  await cp(join(SOURCES, "go"), place, { recursive: true, force: true });
  const program = join(place, "pairs");
  const ran = Bun.spawn(["go", "build", "-o", program, "."], {
    cwd: place,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const said = await new Response(ran.stderr).text();
  if ((await ran.exited) !== 0) throw new Error(`The program of Go cannot be built: ${said}`);
  return [program];
}

export const SDKS: readonly Sdk[] = [
  { name: "npm sdk 1.32.2", server: "sdk-1", prepare: (folder) => javascript(folder, "sdk-1.mjs") },
  {
    name: "npm client and server 2.4.0",
    server: "sdk-2",
    prepare: (folder) => javascript(folder, "sdk-2.mjs"),
  },
  { name: "PyPI mcp 1.30.0", server: "mcp-1", prepare: (folder) => python(folder, "1.30.0", "mcp_1.py") },
  {
    name: "PyPI mcp 2.3.0",
    server: "mcp-2",
    era: "modern",
    prepare: (folder) => python(folder, "2.3.0", "mcp_2.py"),
  },
  { name: "go-sdk 1.8.0", server: "go", prepare: golang },
];

export const FOLDER = cacheFolder("mcp-clients");
