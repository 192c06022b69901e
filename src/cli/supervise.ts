/**
 * The supervisor of several workers: starts them on one port, restarts a worker that ends or hangs, stops and reloads all of
 * them. It serves no requests itself, so that very little in it can fail.
 */
import { existsSync } from "node:fs";
import type { LoadedConfig } from "../config/load.ts";
import { type StopTimes, stopTimes } from "../config/sections/stopping.ts";
import { exitProcess } from "../process/exit.ts";
import { notifyManager } from "../process/notify.ts";
import { shrinkAfterStart } from "../process/shrink.ts";
import { writeTo } from "../run/log-writer.ts";
import { createLogger } from "../server/log.ts";
import { lockPort, lockState, takeState } from "./lock.ts";
import { keeperSettings, type StateHome, stateHome } from "../run/home.ts";
import { Services } from "./services.ts";
import { socketPath } from "./socket-path.ts";
import { SupervisedKeeper } from "./supervised-keeper.ts";
import { watchPauses } from "./pauses.ts";
import { createCredential, RunFile } from "../run/run-file.ts";
import { Restarts } from "./restarts.ts";
import { type Ancestor, runnerAncestors, watchRunner } from "./runner.ts";
import { Following } from "./upgrade/following.ts";
import { type Heir, storeOf } from "./upgrade/heir.ts";
import type { Owner } from "./upgrade/succession.ts";
import { leaveTo, Upgrades } from "./upgrade/upgrades.ts";
import { CELLS, HOME, KEEPER, RESTART, sentence, WAITS, WORKER } from "./worker.ts";
import { type ProcessProgram, WorkerProcess } from "./worker-process.ts";

export interface SuperviseOptions extends Pick<LoadedConfig, "config"> {
  env: Record<string, string | undefined>;
  workers: number;
  /** Reads the config again. @throws ConfigError */
  read(): Pick<LoadedConfig, "config">;
  printError(text: string): void;
  /** The bond with the gateway that this one follows. */
  heir?: Heir | undefined;
}

/** The gateway exits when this many workers in a row ended before they served, and no other one serves. */
const MOST_FAILED_STARTS = 5;
/** A worker that served at least this long did not fail soon after its start. Milliseconds. */
const STABLE_MS = 500;
/** A worker that still runs this long after the grace period is killed. Milliseconds. */
const KILL_AFTER_MS = 900;
/** Maximum time for a killed worker to end. Milliseconds. */
const GONE_MS = 50;

/** Ends the process with its exit code. @throws Error with one sentence when the port is not available */
export async function supervise(options: SuperviseOptions): Promise<number> {
  const { config, env, heir } = options;
  const wanted = stateHome(config, env);
  if (heir) return new Supervisor(options, heir.estate.port, heir.homeFor(config, wanted)).run();
  const lock = await lockPort(config.host, config.port, env);
  return new Supervisor(options, lock.port, lockState(wanted)).run();
}

class Supervisor {
  readonly #options: SuperviseOptions;
  readonly #log: ReturnType<typeof createLogger>;
  readonly #port: number;
  /** By number; a worker that waits to be restarted is absent. */
  readonly #workers = new Map<number, WorkerProcess>();
  readonly #ended = Promise.withResolvers<number>();
  /** Workers in a row that ended before they served. */
  #failedStarts = 0;
  readonly #restarts = new Restarts();
  #announced = false;
  #stopping = false;
  /** Reloads run one after another. */
  #reloads = Promise.resolve();
  /** Number of reloads so far. */
  #reloaded = 0;
  #times: StopTimes;
  #code = 0;
  #file: RunFile | undefined;
  /** URL of the admin API, and the credential with which it starts. */
  #admin: string | undefined;
  readonly #credential: string;
  readonly #keeper: SupervisedKeeper;
  readonly #ancestors: readonly Ancestor[];
  readonly #upgrades: Upgrades;
  /** Absent in a gateway that follows none. */
  readonly #following: Following | undefined;
  readonly #home: StateHome;
  readonly #services: Services;

  constructor(options: SuperviseOptions, port: number, home: StateHome) {
    const { config, env, heir } = options;
    const pretty = config.log.format === "pretty" || (config.log.format === "auto" && process.stdout.isTTY);
    this.#options = options;
    this.#port = port;
    this.#credential = heir?.estate.credential ?? createCredential();
    this.#ancestors = heir?.estate.ancestors ?? runnerAncestors(env);
    this.#times = stopTimes(config);
    this.#log = createLogger({
      format: pretty ? "pretty" : "json",
      level: config.log.level,
      write: writeTo(process.stdout),
    });
    this.#home = home;
    const fault = (text: string) => this.#log.fault(text);
    this.#services = new Services({ home, env, fault, info: (text) => this.#log.info(text, {}) });
    this.#keeper = new SupervisedKeeper(
      socketPath("keeper", home, env),
      keeperSettings(home, config, this.#credential),
      fault,
    );
    if (heir?.estate.admin !== undefined) this.#keeper.followAdmin(heir.estate.admin);
    this.#following = heir && this.#follow(heir);
    this.#upgrades = new Upgrades(this.#owner(), heir?.closed);
  }

  async run(): Promise<number> {
    const stop = () => this.#stop(0, this.#times.delayMs);
    process.on("SIGTERM", stop).on("SIGINT", stop);
    process.on("SIGHUP", () => void (this.#reloads = this.#reloads.then(() => this.#reload())));
    const failed = (fault: unknown) => this.#log.fault("the supervisor failed", fault);
    process.on("uncaughtException", failed).on("unhandledRejection", failed);
    process.on("SIGUSR2", () => void (this.#reloads = this.#reloads.then(() => this.#upgrade())));
    watchRunner(this.#options.env, () => this.#stop(), this.#ancestors);
    this.#checkWorkers();
    if (!this.#following) this.#keeper.start();
    // The other workers start when the first one listens, so that an error in the config is printed once.
    this.#start(1);
    shrinkAfterStart();
    const code = await this.#ended.promise;
    this.#file?.remove();
    await this.#services.stop();
    await this.#keeper.stop();
    await this.#log.flush();
    exitProcess(code);
  }

  #start(number: number): void {
    const isFirstStart = !this.#announced;
    const reloaded = this.#reloaded;
    try {
      const worker: WorkerProcess = new WorkerProcess(number, this.#program(number), {
        onBuilt: () => void this.#following?.inherit(worker),
        onReady: (table, admin, fault) => {
          if (admin !== undefined) this.#onAdmin(admin);
          if (this.#following?.isOpen && fault !== undefined)
            return this.#fail(`the books cannot be opened: ${fault}`);
          this.#onReady(worker, table, isFirstStart);
          if (reloaded !== this.#reloaded) void this.#catchUp(worker);
        },
        onEnd: (how, code) => this.#onEnd(worker, how, code),
        onMessage: (message) => message.kind === "service" && void this.#startService(worker, message.name),
      });
      this.#workers.set(number, worker);
    } catch (cause) {
      this.#restarts.addFailure();
      this.#log.fault(`worker ${number} could not be started; weir retries: ${sentence(cause)}`);
      this.#startLater(number);
    }
  }

  #program(number: number): ProcessProgram {
    return {
      args: process.argv.slice(2),
      env: {
        [WORKER]: `${number}:${this.#port}${this.#announced ? `:${RESTART}` : ""}`,
        [KEEPER]: this.#keeper.socket,
        [HOME]: JSON.stringify(this.#home),
        ...(this.#following?.hasStore === false && { [WAITS]: "1" }),
        ...(this.#keeper.cells !== undefined && { [CELLS]: this.#keeper.cells }),
      },
    };
  }

  async #startService(worker: WorkerProcess, name: string): Promise<void> {
    try {
      worker.tellService({ kind: "service", name, path: await this.#services.start(name) });
    } catch (cause) {
      worker.tellService({ kind: "service", name, fault: sentence(cause) });
    }
  }

  #startLater(number: number): void {
    setTimeout(() => {
      if (!this.#stopping) this.#start(number);
    }, this.#restarts.pause);
  }

  #onReady(worker: WorkerProcess, table: string, isFirstStart: boolean): void {
    const { workers } = this.#options;
    this.#failedStarts = 0;
    if (!isFirstStart) this.#log.info(`worker ${worker.number} is serving`, { process: String(worker.pid) });
    if (this.#announced) worker.announce();
    if (this.#announced || this.#stopping) return;
    if (worker.number === 1 && this.#workers.size === 1)
      for (let number = 2; number <= workers; number++) this.#start(number);
    if ([...this.#workers.values()].filter(({ serves }) => serves).length < workers) return;
    this.#announced = true;
    if (this.#following) void this.#following.succeed(() => this.#announce(table));
    else this.#announce(table);
  }

  #announce(table: string): void {
    const { workers, printError, env } = this.#options;
    this.#file = RunFile.write(this.#port, env, { report: (sentence) => this.#log.fault(sentence) });
    if (this.#admin !== undefined)
      this.#file?.recordAdmin({ url: this.#admin, credential: this.#credential });
    for (const each of this.#workers.values()) each.announce();
    // A service manager hears it from the gateway that it has started.
    if (!this.#following) void notifyManager(env, "READY=1");
    printError(workers === 1 ? table : table.replace("\n", ` with ${workers} workers\n`));
  }

  /** Gives up before it serves. */
  #fail(message: string): void {
    this.#following?.tell(message);
    this.#stop(1);
  }

  /** Another gateway takes this one's place. */
  async #upgrade(): Promise<void> {
    if (this.#stopping || !this.#announced) return;
    const outcome = await this.#upgrades.run(this.#file?.path);
    if (!outcome.ok) this.#file?.recordUpgrade(outcome);
    if (outcome.ok) this.#log.info(outcome.message, {});
    else this.#log.fault(outcome.message);
  }

  #follow(heir: Heir): Following {
    const { config, env } = this.#options;
    return new Following({
      ...{ heir, keeper: this.#keeper, home: this.#home, host: config.host, port: this.#port, env },
      workers: this.#workers,
      report: (text) => this.#log.fault(text),
      fail: (message) => this.#fail(message),
    });
  }

  /** What an upgrade does with this gateway. */
  #owner(): Owner {
    const supervisor = this;
    return {
      get graceMs() {
        return supervisor.#times.graceMs;
      },
      estate: () => ({
        ...{ pid: process.pid, host: this.#options.config.host, port: this.#port, home: this.#home },
        store: storeOf(this.#home, this.#options.config),
        sockets: [this.#keeper.socket, ...(this.#options.heir?.estate.sockets ?? [])].filter(existsSync),
        ...(this.#admin !== undefined && { admin: this.#admin }),
        ...{ credential: this.#credential, ancestors: this.#ancestors },
      }),
      share: () => this.#keeper.share(),
      passKeeper: () => this.#keeper.pass(),
      takeKeeperBack: () => {
        takeState(this.#home);
        this.#keeper.start();
      },
      leave: (pid) => {
        leaveTo(pid, this.#file, this.#options.env);
        for (const worker of this.#workers.values()) worker.leave();
      },
      drain: (graceMs) => {
        this.#times = { ...this.#times, graceMs };
        if (!this.#stopping) this.#stop();
      },
    };
  }

  #onAdmin(url: string): void {
    this.#admin ??= url;
    this.#keeper.keepAdminAt(this.#admin);
  }

  #onEnd(worker: WorkerProcess, how: string, code: number | null): void {
    if (this.#stopping) return this.#endIfAllHave();
    if (this.#following?.isOpen) return this.#fail(worker.failure ?? `worker ${worker.number} ${how}`);
    // A worker that ends by itself before the first one serves has printed why; one that weir killed because it hangs was logged.
    const isKilled = code === null && !worker.isKilled;
    if (!this.#announced && !this.#serves() && !isKilled) return this.#stop(code || 1);
    const what = `worker ${worker.number} ${how}`;
    this.#failedStarts += worker.servedMs === 0 ? 1 : 0;
    if (this.#failedStarts >= MOST_FAILED_STARTS && !this.#serves()) {
      this.#log.fault(`${what}; workers end faster than weir can restart them`);
      return this.#stop(1);
    }
    if (worker.servedMs < STABLE_MS) this.#restarts.addFailure();
    this.#log.fault(`${what}; weir restarts it`);
    this.#startLater(worker.number);
  }

  /** Kills workers that hang; their end is then handled like any other. */
  #checkWorkers(): void {
    watchPauses((wasPaused) => {
      for (const worker of this.#workers.values()) {
        if (wasPaused) worker.resetHeartbeat();
        const { hang } = worker;
        if (hang === undefined) continue;
        this.#log.fault(`worker ${worker.number} hangs: it ${hang}; weir kills it`);
        worker.resetHeartbeat();
        worker.kill();
      }
      this.#keeper.check(wasPaused);
    });
  }

  #serves(): boolean {
    return [...this.#workers.values()].some(({ serves }) => serves);
  }

  /** The first call drains the workers, the second kills them. @param delayMs how long they still take calls */
  #stop(code = 0, delayMs = 0): void {
    if (this.#stopping) return this.#kill();
    this.#stopping = true;
    this.#upgrades.abort();
    this.#code = code;
    for (const worker of this.#workers.values()) worker.stop(delayMs);
    setTimeout(() => this.#kill(), delayMs + this.#times.graceMs + KILL_AFTER_MS);
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

  /** A worker that started during a reload may have read the previous config. */
  async #catchUp(worker: WorkerProcess): Promise<void> {
    const outcome = await worker.reload();
    if (outcome.kind === "refused")
      this.#log.fault(`worker ${worker.number} still has the previous configuration: ${outcome.message}`);
  }

  /** One worker after another: when the first refuses the config, the others never see it. */
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
      this.#times = stopTimes(config);
      const message = "the configuration was reloaded";
      this.#log.info(message, {});
      this.#file?.recordReload({ ok: true, message });
    } catch (cause) {
      const message =
        taken.length === 0
          ? `reload failed; the previous configuration is still active: ${sentence(cause)}`
          : `reload failed; only some workers (${taken.join(", ")}) have the new configuration: ${sentence(cause)}`;
      this.#log.fault(message);
      this.#file?.recordReload({ ok: false, message });
    }
  }
}
