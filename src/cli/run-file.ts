/**
 * Where a running gateway can be found by `weir reload`: a small file of its user's own, named by its port. Where none can be
 * written, on a read-only disk for example, the gateway runs all the same and is reloaded by its signal alone.
 */
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
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
  /** 0 for one on a unix socket. */
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
      return new RunFile(join(makeFolder(env), `${port || `unix-${process.pid}`}.json`), entry);
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
    // Renamed into place, so that no reader sees half of it.
    writeFileSync(`${this.#path}.new`, JSON.stringify(this.#entry), { mode: 0o600 });
    renameSync(`${this.#path}.new`, this.#path);
  }
}

/** A gateway that runs, and the file that says so. */
export interface RunningGateway extends RunEntry {
  path: string;
}

/** The gateways of this user that run; for root also the one of the systemd unit, which has a user of its own. */
export function runningGateways(env: Environment): RunningGateway[] {
  const folders = process.getuid?.() === 0 ? [folderOf(env), UNIT_FOLDER] : [folderOf(env)];
  return [...new Set(folders)].flatMap(listFolder);
}

/** The entry of a file, as it is now; undefined when its gateway has ended. */
export function readRunFile(path: string): RunEntry | undefined {
  try {
    const entry = JSON.parse(readFileSync(path, "utf8")) as RunEntry;
    const isOwn = process.platform !== "linux" || statSync(`/proc/${entry.pid}`).uid === lstatSync(path).uid;
    return isOwn && beginningOf(entry.pid) === entry.began ? entry : undefined;
  } catch {
    return undefined;
  }
}

function listFolder(folder: string): RunningGateway[] {
  try {
    checkFolder(folder);
    return readdirSync(folder)
      .filter((name) => name.endsWith(".json"))
      .flatMap((name) => {
        const path = join(folder, name);
        const entry = readRunFile(path);
        return entry ? [{ ...entry, path }] : [];
      });
  } catch {
    return [];
  }
}

/** What `RuntimeDirectory=weir` of a systemd unit makes; the unit's processes find it in `RUNTIME_DIRECTORY`. */
const UNIT_FOLDER = "/run/weir";

function folderOf(env: Environment): string {
  const [unit] = (env["RUNTIME_DIRECTORY"] ?? "").split(":");
  if (unit) return unit;
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

/**
 * In a folder others can write to, a file could name any process of this user's. Root may use another user's: there a
 * file can name processes of that user only.
 */
function checkFolder(folder: string): void {
  const { uid, mode } = lstatSync(folder);
  const own = process.getuid?.();
  if (own === undefined) return;
  if ((uid !== own && own !== 0) || (mode & 0o022) !== 0) throw new Error(`${folder} is not this user's own`);
}

function userId(): string {
  return String(process.getuid?.() ?? "user");
}

/** When a process began, as the system counts it; empty where it does not tell. @throws Error when there is no such process */
export function beginningOf(pid: number): string {
  process.kill(pid, 0);
  if (process.platform !== "linux") return "";
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const [state, ...others] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (state === "Z") throw new Error(`process ${pid} has ended and its parent has not noticed`);
  return others[18] ?? "";
}
