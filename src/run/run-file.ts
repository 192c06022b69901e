/**
 * How commands find a running gateway: a small file per port in a folder that belongs to the user. If the file cannot be
 * written, for example on a read-only disk, the gateway still runs, and only SIGHUP reloads it.
 */
import {
  accessSync,
  constants,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeFileError, systemCode } from "../core/system-error.ts";

export interface SignalOutcome {
  ok: boolean;
  message: string;
}

export interface RunEntry {
  pid: number;
  /** Start time of the process as the system counts it. It tells the process from a later one with the same id. */
  began: string;
  /** 0 for one on a unix socket. */
  port: number;
  /** The working directory in which it was started; absent for one of an earlier version. */
  folder?: string;
  /** It runs for one client, and ends with it. */
  isForClient?: true;
  /** Result of the last reload; `count` increases with each. */
  reload?: SignalOutcome & { count: number };
  /** Result of the last upgrade that failed: after one that did not, the file is that of another process. */
  upgrade?: SignalOutcome & { count: number };
  admin?: AdminAccess;
}

/** How a command of this user reaches the admin API of the gateway. */
export interface AdminAccess {
  /** `http://127.0.0.1:9348`. */
  url: string;
  /** Random credential of this run. The run file is readable by its user only. */
  credential: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Time until a file is written again for which there was no room. Milliseconds. */
const RETRY_MS = 1_000;

function isFull(cause: unknown): boolean {
  return ["ENOSPC", "EDQUOT"].includes(systemCode(cause) ?? "");
}

export class RunFile {
  readonly path: string;
  readonly #entry: RunEntry;

  readonly #report: (sentence: string) => void;
  #retry: Timer | undefined;
  /** Another gateway has written its own file in place of this one. */
  #isLost = false;

  private constructor(path: string, entry: RunEntry, report: (sentence: string) => void) {
    this.path = path;
    this.#entry = entry;
    this.#report = report;
    this.#save(true);
  }

  /**
   * @param report logs that there is no room for the file, and that there is again
   * @returns undefined when there is no folder for it
   */
  static write(
    port: number,
    env: Environment,
    {
      isForClient = false,
      report = () => {},
    }: { isForClient?: boolean; report?(sentence: string): void } = {},
  ): RunFile | undefined {
    try {
      const entry: RunEntry = {
        ...{ port, pid: process.pid, began: beginningOf(process.pid) },
        folder: process.cwd(),
      };
      if (isForClient) entry.isForClient = true;
      return new RunFile(join(makeFolder(env), `${port || `unix-${process.pid}`}.json`), entry, report);
    } catch {
      return undefined;
    }
  }

  /** Records the result of a reload. */
  recordReload(outcome: SignalOutcome): void {
    this.#entry.reload = { ...outcome, count: (this.#entry.reload?.count ?? 0) + 1 };
    this.#save();
  }

  /** Records that an upgrade failed. */
  recordUpgrade(outcome: SignalOutcome): void {
    this.#entry.upgrade = { ...outcome, count: (this.#entry.upgrade?.count ?? 0) + 1 };
    this.#save();
  }

  /** Leaves the file to the gateway that follows this one. */
  leave(): void {
    clearTimeout(this.#retry);
    this.#isLost = true;
  }

  /** Records where the admin API listens, and the credential of this run. */
  recordAdmin(admin: AdminAccess): void {
    this.#entry.admin = admin;
    this.#save();
  }

  remove(): void {
    clearTimeout(this.#retry);
    if (!this.#isLost) rmSync(this.path, { force: true });
  }

  /** @throws Error of the file system at the first save, unless there is only no room */
  #save(isFirst = false): void {
    if (this.#isLost) return;
    const fresh = `${this.path}.new`;
    try {
      // The file is renamed into place, so that no reader sees a partial file.
      writeFileSync(fresh, JSON.stringify(this.#entry), { mode: 0o600 });
      renameSync(fresh, this.path);
    } catch (cause) {
      rmSync(fresh, { force: true });
      if (isFirst && !isFull(cause)) throw cause;
      return this.#saveLater(cause);
    }
    if (this.#retry) this.#report(`${this.path} is written: other commands find this gateway`);
    clearTimeout(this.#retry);
    this.#retry = undefined;
  }

  #saveLater(cause: unknown): void {
    if (!this.#retry)
      this.#report(
        `${this.path} cannot be written (${describeFileError(cause)}), so that other commands do not find this gateway; weir tries again`,
      );
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.#save(), RETRY_MS);
    this.#retry.unref();
  }
}

/** A credential for the admin API of one run. */
export function createCredential(): string {
  return `weir_run_${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url")}`;
}

/** A running gateway and the path of its run file. */
export interface RunningGateway extends RunEntry {
  path: string;
}

/** This user's running gateways; for root also that of the systemd unit, which runs as another user. */
export function runningGateways(env: Environment): RunningGateway[] {
  const folders = process.getuid?.() === 0 ? [folderOf(env), UNIT_FOLDER] : [folderOf(env)];
  return [...new Set(folders)].flatMap(listFolder);
}

/** The current entry of a run file; undefined when its gateway has ended. */
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
        return entry && isReachable(entry) ? [{ ...entry, path }] : [];
      });
  } catch {
    return [];
  }
}

/** Containers may share the folder and the process ids, and have a network of their own. A unix socket is in the folders that they share. */
export function isReachable(
  { pid, port }: Pick<RunEntry, "pid" | "port">,
  networkOf: (process: number | "self") => string = networkOn,
): boolean {
  if (port === 0) return true;
  try {
    return networkOf(pid) === networkOf("self");
  } catch {
    // Only root may know it of a process of another user.
    return true;
  }
}

/** The network of a process, as Linux names it; the same one for all on other systems. */
function networkOn(id: number | "self"): string {
  return process.platform === "linux" ? readlinkSync(`/proc/${id}/ns/net`) : "";
}

/** The folder that `RuntimeDirectory=weir` in a systemd unit creates; the unit's processes get it in `RUNTIME_DIRECTORY`. */
const UNIT_FOLDER = "/run/weir";

function folderOf(env: Environment): string {
  const [unit] = (env["RUNTIME_DIRECTORY"] ?? "").split(":");
  if (unit) return unit;
  return env["XDG_RUNTIME_DIR"] ? join(env["XDG_RUNTIME_DIR"], "weir") : join(tmpdir(), `weir-${userId()}`);
}

/** The folder of this user's run files; undefined when it cannot be created. */
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
  // It may be left from a time when the disk was writable.
  accessSync(folder, constants.W_OK);
  return folder;
}

/**
 * Refuses a folder that other users can write to: they could place a file that names any process of this user. Root may use
 * another user's folder: a file there can name only processes of that user.
 */
function checkFolder(folder: string): void {
  const { uid, mode } = lstatSync(folder);
  const own = process.getuid?.();
  if (own === undefined) return;
  if ((uid !== own && own !== 0) || (mode & 0o022) !== 0)
    throw new Error(`${folder} must belong to this user and be not writable by other users`);
}

function userId(): string {
  return String(process.getuid?.() ?? "user");
}

/** Start time of a process as the system counts it; empty where the system has no /proc. @throws Error when there is no such process */
export function beginningOf(pid: number): string {
  process.kill(pid, 0);
  if (process.platform !== "linux") return "";
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const [state, ...others] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (state === "Z") throw new Error(`process ${pid} has ended and its parent has not collected it`);
  return others[18] ?? "";
}
