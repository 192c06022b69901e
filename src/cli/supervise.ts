/**
 * The supervisor of several workers: starts them on one port, restarts one that ends or hangs, stops and reloads them
 * together. It serves nothing itself, so that there is next to nothing in it that could fail.
 */
import type { LoadedConfig } from "../config/load.ts";
import { exitProcess } from "../exit.ts";
import { writeTo } from "../server/log-buffer.ts";
import { createLogger } from "../server/log.ts";
import { lockPort } from "./lock.ts";
import { RunFile } from "./run-file.ts";
import { watchRunner } from "./runner.ts";
import { sentence } from "./worker.ts";
import { WorkerProcess } from "./worker-process.ts";

export interface SuperviseOptions extends Pick<LoadedConfig, "config"> {
  env: Record<string, string | undefined>;
  workers: number;
  /** Reads the config again. @throws ConfigError */
  read(): Pick<LoadedConfig, "config">;
  printError(text: string): void;
}

/** After this many deaths in this time without a worker that serves, the gateway ends. */
const MOST_DEATHS = 5;
const DEATHS_WITHIN_MS = 10_000;
/** The pause before the first restart, doubled with each failure of late. Milliseconds. */
const PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;
/** How often workers are looked at. Milliseconds. */
const LOOK_MS = 500;
/** A look that comes this much too late means that the supervisor itself stood still. Milliseconds. */
const STOOD_STILL_MS = 2_000;
/** A worker that has not ended this long after the grace is killed. Milliseconds. */
const KILL_AFTER_MS = 900;
/** Longest wait for a killed worker to be gone. Milliseconds. */
const GONE_MS = 50;

/** Ends the process with its exit code. @throws Error with one sentence when the port cannot be had */
export async function supervise(options: SuperviseOptions): Promise<number> {
  const { host, port } = options.config;
  const lock = await lockPort(host, port, options.env);
  const supervisor = new Supervisor(options, lock.port);
  return supervisor.run();
}

class Supervisor {
  readonly #options: SuperviseOptions;
  readonly #log: ReturnType<typeof createLogger>;
  readonly #port: number;
  /** By number; absent while one waits to be restarted. */
  readonly #workers = new Map<number, WorkerProcess>();
  readonly #ended = Promise.withResolvers<number>();
  /** When workers ended, and when none could be started; monotonic milliseconds. */
  #deaths: number[] = [];
  #failures: number[] = [];
  #announced = false;
  #stopping = false;
  /** Reloads run one after the other. */
  #reloads = Promise.resolve();
  /** How many reloads there were. */
  #reloaded = 0;
  #graceMs: number;
  #code = 0;
  #file: RunFile | undefined;

  constructor(options: SuperviseOptions, port: number) {
    const { config } = options;
    const pretty = config.log.format === "pretty" || (config.log.format === "auto" && process.stdout.isTTY);
    this.#options = options;
    this.#port = port;
    this.#graceMs = config.graceMs;
    this.#log = createLogger({
      format: pretty ? "pretty" : "json",
      level: config.log.level,
      write: writeTo(process.stdout),
    });
  }

  async run(): Promise<number> {
    process.on("SIGTERM", () => this.#stop());
    process.on("SIGINT", () => this.#stop());
    process.on("SIGHUP", () => void (this.#reloads = this.#reloads.then(() => this.#reload())));
    process.on("uncaughtException", (fault) => this.#log.fault("the supervisor failed", fault));
    process.on("unhandledRejection", (fault) => this.#log.fault("the supervisor failed", fault));
    watchRunner(this.#options.env, () => this.#stop());
    this.#look();
    // The others follow when it listens: what is wrong with the config is printed once.
    this.#start(1);
    const code = await this.#ended.promise;
    this.#file?.remove();
    await this.#log.flush();
    exitProcess(code);
  }

  #start(number: number): void {
    const isFirstStart = !this.#announced;
    const reloaded = this.#reloaded;
    try {
      const worker: WorkerProcess = new WorkerProcess(number, this.#port, {
        onReady: (table) => {
          this.#onReady(worker, table, isFirstStart);
          if (reloaded !== this.#reloaded) void this.#catchUp(worker);
        },
        onEnd: (how, code) => this.#onEnd(worker, how, code),
      });
      this.#workers.set(number, worker);
    } catch (cause) {
      this.#failures = [...this.#failures.slice(-MOST_DEATHS), performance.now()];
      this.#log.fault(`worker ${number} could not be started and is tried again: ${sentence(cause)}`);
      this.#startLater(number, this.#failures);
    }
  }

  /** @param failures of late: each doubles the pause */
  #startLater(number: number, failures: readonly number[]): void {
    const now = performance.now();
    const recent = failures.filter((at) => now - at < DEATHS_WITHIN_MS).length;
    const pause = Math.min(LONGEST_PAUSE_MS, PAUSE_MS * 2 ** (recent - 1));
    setTimeout(() => {
      if (!this.#stopping) this.#start(number);
    }, pause);
  }

  #onReady(worker: WorkerProcess, table: string, isFirstStart: boolean): void {
    const { workers, printError, env } = this.#options;
    if (!isFirstStart) this.#log.info(`worker ${worker.number} serves`, { process: String(worker.pid) });
    if (this.#announced || this.#stopping) return;
    if (worker.number === 1 && this.#workers.size === 1)
      for (let number = 2; number <= workers; number++) this.#start(number);
    if ([...this.#workers.values()].filter(({ serves }) => serves).length < workers) return;
    this.#announced = true;
    this.#file = RunFile.write(this.#port, env);
    printError(`${table}\n  workers: ${workers}`);
  }

  #onEnd(worker: WorkerProcess, how: string, code: number | null): void {
    if (this.#stopping) return this.#endIfAllHave();
    if (!this.#announced && !this.#serves()) return this.#stop(code || 1);
    const now = performance.now();
    this.#deaths = [...this.#deaths.filter((at) => now - at < DEATHS_WITHIN_MS), now];
    const what = `worker ${worker.number} ${how}`;
    if (this.#deaths.length >= MOST_DEATHS && !this.#serves()) {
      this.#log.fault(`${what}; workers die faster than they can be started`);
      return this.#stop(1);
    }
    this.#log.fault(`${what} and is started again`);
    this.#startLater(worker.number, this.#deaths);
  }

  /** Kills workers that hang; their end is handled like any other. */
  #look(): void {
    let due = performance.now() + LOOK_MS;
    setInterval(() => {
      const late = performance.now() - due;
      due = performance.now() + LOOK_MS;
      for (const worker of this.#workers.values()) {
        if (late > STOOD_STILL_MS) worker.excuse();
        const { hang } = worker;
        if (hang === undefined) continue;
        this.#log.fault(`worker ${worker.number} hangs: it ${hang}; it is killed`);
        worker.excuse();
        worker.kill();
      }
    }, LOOK_MS);
  }

  #serves(): boolean {
    return [...this.#workers.values()].some(({ serves }) => serves);
  }

  /** The first time workers drain, the second time they end at once. */
  #stop(code = 0): void {
    if (this.#stopping) return this.#kill();
    this.#stopping = true;
    this.#code = code;
    for (const worker of this.#workers.values()) worker.stop();
    setTimeout(() => this.#kill(), this.#graceMs + KILL_AFTER_MS);
    this.#endIfAllHave();
  }

  #kill(): void {
    this.#code ||= 1;
    for (const worker of this.#workers.values()) worker.kill();
    setTimeout(() => this.#ended.resolve(this.#code), GONE_MS);
  }

  #endIfAllHave(): void {
    if ([...this.#workers.values()].every(({ ended }) => ended)) this.#ended.resolve(this.#code);
  }

  /** A worker that started during a reload may have read the config before it changed. */
  async #catchUp(worker: WorkerProcess): Promise<void> {
    const outcome = await worker.reload();
    if (outcome.kind === "refused")
      this.#log.fault(`worker ${worker.number} does not have the new config: ${outcome.message}`);
  }

  /** One after the other: what the first one refuses the others never see. */
  async #reload(): Promise<void> {
    const taken: number[] = [];
    try {
      const { config } = this.#options.read();
      this.#reloaded++;
      for (const worker of [...this.#workers.values()].filter(({ serves }) => serves)) {
        const outcome = await worker.reload();
        if (outcome.kind === "refused") throw new Error(outcome.message);
        if (outcome.kind === "reloaded") taken.push(worker.number);
      }
      this.#graceMs = config.graceMs;
      const message = "the config was loaded again";
      this.#log.info(message, {});
      this.#file?.tell({ ok: true, message });
    } catch (cause) {
      const message =
        taken.length === 0
          ? `the config stays as it was: ${sentence(cause)}`
          : `only some workers (${taken.join(", ")}) have the new config: ${sentence(cause)}`;
      this.#log.fault(message);
      this.#file?.tell({ ok: false, message });
    }
  }
}
