/** Installs real clients into a folder and runs them, so that they reach nobody but this machine. */
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";

/** A folder with npm packages, or a virtual environment of Python. */
export type Installer = "npm" | "python";

export interface Program {
  command: readonly string[];
  env?: Record<string, string>;
}

export interface Ran {
  /** The exit code, or the name of the signal that ended it. */
  code: number | string;
  /** What it printed, both streams. */
  said: string;
  seconds: number;
}

/** Runs a client to its end. @param patience milliseconds, after which it is killed */
export async function runProgram(
  { command, env }: Program,
  { home, cwd, patience }: { home: string; cwd: string; patience: number },
): Promise<Ran> {
  const started = performance.now();
  const ran = Bun.spawn([...command], {
    cwd,
    env: { ...environment(home), ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: patience,
    killSignal: "SIGKILL",
  });
  const [code, output, errors] = await Promise.all([
    ran.exited,
    new Response(ran.stdout).text(),
    new Response(ran.stderr).text(),
  ]);
  const seconds = (performance.now() - started) / 1000;
  return { code: ran.signalCode ?? code, said: output + errors, seconds };
}

/** A client that looks for updates, or reports what it did, reaches nobody. */
function environment(home: string): Record<string, string> {
  const nowhere = "http://127.0.0.1:9";
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    TERM: "dumb",
    HTTP_PROXY: nowhere,
    HTTPS_PROXY: nowhere,
    NO_PROXY: "127.0.0.1,localhost",
    LITELLM_LOCAL_MODEL_COST_MAP: "True",
    PYTHONUNBUFFERED: "1",
  };
}

/** Installs packages into a folder unless it is there. */
export async function install(
  installer: Installer,
  place: string,
  packages: readonly string[],
): Promise<void> {
  if (existsSync(place)) return;
  if (installer === "npm") {
    await print(["npm", "install", "--prefix", place, "--no-audit", "--no-fund", ...packages]);
    return;
  }
  await print(["python3", "-m", "venv", place]);
  await print([join(place, "bin/pip"), "install", "--quiet", ...packages]);
}

/** The version of an installed package; npm packages may be named with the wanted one (`openai@7.55.0`). */
export async function versionOf(installer: Installer, place: string, name: string): Promise<string> {
  if (installer === "npm") {
    const path = join(place, "node_modules", name.slice(0, name.lastIndexOf("@")), "package.json");
    return ((await Bun.file(path).json()) as { version: string }).version;
  }
  const program = "import sys, importlib.metadata as m; print(m.version(sys.argv[1]))";
  return (await print([join(place, "bin/python"), "-c", program, name])).trim();
}

/** @returns what the command printed @throws when it fails */
async function print(words: readonly string[]): Promise<string> {
  const ran = Bun.spawn([...words], { stdin: "ignore", stdout: "pipe", stderr: "inherit" });
  const text = await new Response(ran.stdout).text();
  if ((await ran.exited) !== 0) throw new Error(`${words.join(" ")} failed.`);
  return text;
}

/** Writes files into a folder. */
export async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await Bun.write(path, text);
  }
}
