/**
 * Where a running gateway can be found by `weir reload`: a small file of its user's own, named by its port. Where none can be
 * written, on a read-only disk for example, the gateway runs all the same and is reloaded by its signal alone.
 */
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Outcome {
  ok: boolean;
  message: string;
}

export interface RunEntry {
  pid: number;
  /** When the process began, as the system counts it: another one with the same id did not. */
  began: string;
  port: number;
  /** Of the last reload; `count` tells one from the next. */
  reload?: Outcome & { count: number };
}

type Environment = Readonly<Record<string, string | undefined>>;

export class RunFile {
  readonly #path: string;
  readonly #entry: RunEntry;

  private constructor(path: string, entry: RunEntry) {
    this.#path = path;
    this.#entry = entry;
    this.#save();
  }

  /** @returns undefined where no file can be written */
  static write(port: number, env: Environment): RunFile | undefined {
    try {
      const entry = { port, pid: process.pid, began: beginningOf(process.pid) };
      return new RunFile(join(makeFolder(env), `${port}.json`), entry);
    } catch {
      return undefined;
    }
  }

  /** Says what became of a reload. */
  tell(outcome: Outcome): void {
    this.#entry.reload = { ...outcome, count: (this.#entry.reload?.count ?? 0) + 1 };
    try {
      this.#save();
    } catch {
      // The log has it.
    }
  }

  remove(): void {
    rmSync(this.#path, { force: true });
  }

  #save(): void {
    writeFileSync(this.#path, JSON.stringify(this.#entry), { mode: 0o600 });
  }
}

/** The gateways of this user that run. */
export function runningGateways(env: Environment): RunEntry[] {
  const folder = folderOf(env);
  try {
    checkFolder(folder);
    return readdirSync(folder)
      .filter((name) => name.endsWith(".json"))
      .flatMap((name) => readEntry(join(folder, name)));
  } catch {
    return [];
  }
}

/** The entry of a port, as it is now. */
export function readRunFile(port: number, env: Environment): RunEntry | undefined {
  return readEntry(join(folderOf(env), `${port}.json`))[0];
}

function readEntry(path: string): RunEntry[] {
  try {
    const entry = JSON.parse(readFileSync(path, "utf8")) as RunEntry;
    return beginningOf(entry.pid) === entry.began ? [entry] : [];
  } catch {
    return [];
  }
}

function folderOf(env: Environment): string {
  return env["XDG_RUNTIME_DIR"] ? join(env["XDG_RUNTIME_DIR"], "weir") : join(tmpdir(), `weir-${userId()}`);
}

/** The folder of this user's gateways; undefined where none can be made. */
export function runFolder(env: Environment): string | undefined {
  try {
    return makeFolder(env);
  } catch {
    return undefined;
  }
}

function makeFolder(env: Environment): string {
  const folder = folderOf(env);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  checkFolder(folder);
  return folder;
}

/** In a folder others can write to, a file could name any process of this user's. */
function checkFolder(folder: string): void {
  const { uid, mode } = lstatSync(folder);
  if (process.getuid && (uid !== process.getuid() || (mode & 0o022) !== 0))
    throw new Error(`${folder} is not this user's own`);
}

function userId(): string {
  return String(process.getuid?.() ?? "user");
}

/** When a process began, as the system counts it; empty where it does not tell. @throws Error when there is no such process */
export function beginningOf(pid: number): string {
  process.kill(pid, 0);
  if (process.platform !== "linux") return "";
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
}
