/** The keeper's process from the supervisor's side: starts it, restarts it when it ends or hangs, ends it after the workers. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withPortOf } from "../operator/settings.ts";
import type { KeeperSettings } from "../keeper/settings.ts";
import { KEEPER_FLAG } from "../process/program.ts";
import type { StateHome } from "../run/home.ts";
import { beginningOf, runFolder } from "./run-file.ts";
import { KEEPER_SETTINGS, sentence } from "./worker.ts";
import { WorkerProcess } from "./worker-process.ts";

/** Delay before a restart, doubled up to the longest while the keeper does not come up. Milliseconds. */
const PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;
/** Maximum time for the keeper to commit and close its file. Milliseconds. */
const STOP_MS = 3_000;
/** Writable in containers whose disk is not. */
const SHARED_MEMORY = "/dev/shm";
/** Most bytes of a socket's path that every system accepts. */
const MAX_PATH = 100;

/** Path of the socket of this process's keeper. @throws Error with one sentence when there is no folder for it */
export function keeperSocket(home: StateHome, env: Readonly<Record<string, string | undefined>>): string {
  const name = `keeper-${process.pid}.sock`;
  const folders = [runFolder(env), home.kind === "folder" ? home.folder : undefined];
  for (const folder of folders) {
    if (folder === undefined) continue;
    removeStale(folder);
    if (Buffer.byteLength(join(folder, name)) <= MAX_PATH) return join(folder, name);
  }
  for (const folder of [tmpdir(), SHARED_MEMORY])
    try {
      return join(mkdtempSync(join(folder, "weir-")), name);
    } catch {
      // The next one may be writable.
    }
  throw new Error("no folder for the socket of the keeper is writable; set TMPDIR or --workers 1");
}

/** Removes the sockets of gateways that were killed. */
function removeStale(folder: string): void {
  for (const name of readdirSync(folder)) {
    const pid = /^keeper-(\d+)\.sock$/.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(folder, name), { force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    beginningOf(pid);
    return true;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === "EPERM";
  }
}

export class SupervisedKeeper {
  /** Path of its socket. */
  readonly socket: string;
  #settings: KeeperSettings;
  readonly #report: (text: string) => void;
  readonly #stopped = Promise.withResolvers<void>();
  #process: WorkerProcess | undefined;
  #pause = PAUSE_MS;
  #restarts = 0;
  #isStopping = false;

  /** @param report logs a fault */
  constructor(socket: string, settings: KeeperSettings, report: (text: string) => void) {
    this.socket = socket;
    this.#settings = settings;
    this.#report = report;
  }

  /** Folder of the cells. */
  get cells(): string | undefined {
    return this.#settings.books?.cells;
  }

  /** The admin API must not move when the keeper is started again. */
  keepAdminAt(url: string): void {
    const { admin } = this.#settings;
    if (admin) this.#settings = { ...this.#settings, admin: withPortOf(admin, { url }) };
  }

  start(): void {
    try {
      // The settings may contain a password, and other users can read arguments.
      const env = { [KEEPER_SETTINGS]: JSON.stringify(this.#settings) };
      this.#process = new WorkerProcess(
        0,
        { args: [KEEPER_FLAG, this.socket], env },
        {
          onReady: () => (this.#pause = PAUSE_MS),
          onEnd: (how) => this.#onEnd(how),
        },
      );
    } catch (cause) {
      this.#onEnd(`could not be started (${sentence(cause)})`);
    }
  }

  /** Kills a keeper that hangs. @param wasPaused the supervisor itself was paused, so that heartbeats may be late */
  check(wasPaused: boolean): void {
    if (wasPaused) this.#process?.resetHeartbeat();
    const hang = this.#process?.hang;
    if (hang === undefined) return;
    this.#report(`the keeper hangs: it ${hang}; weir kills it`);
    this.#process?.resetHeartbeat();
    this.#process?.kill();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    if (this.#process && !this.#process.ended) {
      const timer = setTimeout(() => this.#process?.kill(), STOP_MS);
      this.#process.stop();
      await this.#stopped.promise;
      clearTimeout(timer);
    }
    rmSync(this.socket, { force: true });
  }

  #onEnd(how: string): void {
    if (this.#isStopping) return this.#stopped.resolve();
    this.#report(`the keeper ${how}; weir restarts it`);
    const { admin } = this.#settings;
    if (admin) this.#settings = { ...this.#settings, admin: { ...admin, restarts: ++this.#restarts } };
    setTimeout(() => {
      if (!this.#isStopping) this.start();
    }, this.#pause);
    this.#pause = Math.min(LONGEST_PAUSE_MS, this.#pause * 2);
  }
}
