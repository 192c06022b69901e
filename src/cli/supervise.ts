/**
 * The supervisor of several workers: starts them on one port, starts one again that dies, stops and reloads them together.
 * It serves nothing itself, so that there is next to nothing in it that could fail.
 */
import type { Subprocess } from "bun";
import type { LoadedConfig } from "../config/load.ts";
import { exitProcess } from "../exit.ts";
import { writeTo } from "../server/log-buffer.ts";
import { listenFault } from "../server/listen.ts";
import { createLogger } from "../server/log.ts";
import { RunFile } from "./run-file.ts";
import type { FromWorker, ToWorker } from "./worker.ts";
import { WORKER } from "./worker.ts";

export interface SuperviseOptions extends Pick<LoadedConfig, "config"> {
  env: Record<string, string | undefined>;
  workers: number;
  /** Reads the config anew. @throws ConfigError */
  read(): unknown;
  printError(text: string): void;
}

interface Worker {
  number: number;
  child: Subprocess;
  /** Resolves with the start table; rejects when it ends before. */
  ready: Promise<string>;
  /** It listens. */
  serves: boolean;
  /** Takes the outcome of a reload. */
  heard?: (outcome: FromWorker) => void;
}

/** So many deaths in so many milliseconds are no accident any more: without a worker that serves, the gateway ends. */
const MOST_DEATHS = 5;
const DEATHS_WITHIN_MS = 10_000;
/** The pause before the first new start, doubled with each death of late. Milliseconds. */
const PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;

export async function supervise(options: SuperviseOptions): Promise<number> {
  const supervisor = new Supervisor(options);
  return supervisor.run();
}

class Supervisor {
  readonly #options: SuperviseOptions;
  readonly #log: ReturnType<typeof createLogger>;
  readonly #port: number;
  readonly #workers: Worker[] = [];
  readonly #ended = Promise.withResolvers<number>();
  #deaths: number[] = [];
  #stopping = false;
  /** What the whole ends with. */
  #code = 0;
  #file: RunFile | undefined;

  constructor(options: SuperviseOptions) {
    const { config } = options;
    const pretty = config.log.format === "pretty" || (config.log.format === "auto" && process.stdout.isTTY);
    this.#options = options;
    this.#port = choosePort(config.host, config.port);
    this.#log = createLogger({
      format: pretty ? "pretty" : "json",
      level: config.log.level,
      write: writeTo(process.stdout),
    });
  }

  async run(): Promise<number> {
    const { workers, printError, env } = this.#options;
    for (let number = 1; number <= workers; number++) this.#workers.push(this.#start(number));
    process.on("SIGTERM", () => this.#stop());
    process.on("SIGINT", () => this.#stop());
    const tables = await Promise.all(this.#workers.map(({ ready }) => ready)).catch(() => undefined);
    if (tables) {
      this.#file = RunFile.write(this.#port, env);
      process.on("SIGHUP", () => void this.#reload());
      printError(`${tables[0]}\n  workers: ${workers}`);
    }
    const code = await this.#ended.promise;
    this.#file?.remove();
    await this.#log.flush();
    exitProcess(code);
  }

  #start(number: number): Worker {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    // A worker that dies is spoken of where its death is seen.
    promise.catch(() => {});
    const own = Bun.isStandaloneExecutable ? [] : [process.argv[1]!];
    const worker: Worker = {
      number,
      ready: promise,
      serves: false,
      child: Bun.spawn([process.execPath, ...own, ...process.argv.slice(2)], {
        env: { ...process.env, [WORKER]: `${number}:${this.#port}` },
        stdio: ["ignore", "inherit", "inherit"],
        serialization: "json",
        ipc: (message: FromWorker) => {
          if (message.kind !== "ready") return worker.heard?.(message);
          worker.serves = true;
          resolve(message.table);
        },
        onExit: (_, code, signal) => {
          reject(new Error(`worker ${number} ended`));
          this.#onExit(worker, code, signal);
        },
      }),
    };
    return worker;
  }

  #onExit(worker: Worker, code: number | null, signal: number | string | null): void {
    worker.serves = false;
    worker.heard?.({ kind: "refused", message: `worker ${worker.number} ended` });
    if (this.#stopping) return this.#endIfAllAre();
    const now = performance.now();
    this.#deaths = [...this.#deaths.filter((at) => now - at < DEATHS_WITHIN_MS), now];
    const how = `worker ${worker.number} ended ${signal === null ? `with code ${code}` : `by signal ${signal}`}`;
    if (this.#deaths.length >= MOST_DEATHS && !this.#workers.some(({ serves }) => serves)) {
      this.#log.fault(`${how}; workers die faster than they can be started`);
      return this.#stop(1);
    }
    this.#log.fault(`${how} and is started again`);
    const pause = Math.min(LONGEST_PAUSE_MS, PAUSE_MS * 2 ** (this.#deaths.length - 1));
    setTimeout(() => {
      if (!this.#stopping) this.#workers[worker.number - 1] = this.#start(worker.number);
    }, pause);
  }

  /** The first time they drain, the second time they end at once. */
  #stop(code = 0): void {
    const again = this.#stopping;
    this.#stopping = true;
    this.#code ||= again ? 1 : code;
    for (const { child } of this.#workers)
      if (child.exitCode === null) child.kill(again ? "SIGKILL" : "SIGTERM");
    this.#endIfAllAre();
  }

  #endIfAllAre(): void {
    if (this.#workers.every(({ child }) => child.exitCode !== null || child.signalCode !== null))
      this.#ended.resolve(this.#code);
  }

  /** One after the other: what the first one refuses the others never see. */
  async #reload(): Promise<void> {
    try {
      this.#options.read();
      // One that does not serve yet reads the config when it starts.
      for (const worker of this.#workers) if (worker.serves) await this.#reloadOne(worker);
      const message = "the config was loaded again";
      this.#log.info(message, {});
      this.#file?.tell({ ok: true, message });
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause);
      this.#log.fault(`the config stays as it was: ${message}`);
      this.#file?.tell({ ok: false, message });
    }
  }

  async #reloadOne(worker: Worker): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<FromWorker>();
    worker.heard = resolve;
    worker.child.send({ kind: "reload" } satisfies ToWorker);
    const outcome = await promise;
    worker.heard = undefined;
    if (outcome.kind === "refused") throw new Error(outcome.message);
  }
}

/**
 * A port that nobody listens on. Two gateways that share one by mistake would take each other's calls, so it is taken for
 * a moment as if alone.
 * @throws Error with one sentence when it is not free
 */
function choosePort(host: string, port: number): number {
  try {
    const probe = Bun.listen({ hostname: host, port, socket: { data() {} } });
    const found = probe.port;
    probe.stop(true);
    return found;
  } catch (error) {
    throw new Error(listenFault(error, { host, port }), { cause: error });
  }
}
