/** `weir serve`: runs the gateway in one process or several until a signal ends it. */
import { existsSync } from "node:fs";
import { loadConfig, type LoadedConfig, type LoadOptions, readConfig, reloadConfig } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { exitProcess, guardProcess } from "../process/exit.ts";
import { notifyManager } from "../process/notify.ts";
import { isFetchLimited, replaceProcess } from "../process/reexec.ts";
import { shrinkAfterStart } from "../process/shrink.ts";
import type { RunningWeir } from "../run/running-weir.ts";
import type { StartOptions } from "../run/running-weir.ts";
import { type StateHome, stateHome } from "../run/home.ts";
import { type Command, configOptions, type Context, SERVE_FLAGS } from "./command.ts";
import { lockOnly, lockPath, lockPort, lockState } from "./lock.ts";
import { createCredential, RunFile } from "../run/run-file.ts";
import { FIXED } from "../config/fixed.ts";
import { WatchedFiles } from "../config/watched.ts";
import { watchConfig } from "./watch-config.ts";
import { type StopTimes, stopTimes } from "../config/sections/stopping.ts";
import { watchRunner } from "./runner.ts";
import { Services } from "./services.ts";
import { Signals } from "./signals.ts";
import { startTable } from "./start-table.ts";
import { supervise } from "./supervise.ts";
import { renewInTime, withOwnCertificate } from "./tls/with-own.ts";
import { Heir } from "./upgrade/heir.ts";
import { ownerAlone, Upgrades } from "./upgrade/upgrades.ts";
import { followSupervisor, sentence, tellFailure, wantedWorkers, WORKER, workerOf } from "./worker.ts";

export const serve: Command = {
  name: "serve",
  summary: "start the gateway",
  words: [],
  flags: SERVE_FLAGS,
  async run(context) {
    try {
      return await runServe(context);
    } catch (cause) {
      tellFailure(sentence(cause));
      throw cause;
    }
  },
};

async function runServe(context: Context): Promise<number> {
  const heir = await Heir.meet(context.env);
  const watched = new WatchedFiles();
  const settings = await readSettings(context, watched);
  // Plugins may send any number of requests with `fetch`.
  if (existsSync(settings.config.plugins.dir) && !heir) replaceProcess();
  const workers = wantedWorkers(settings.config);
  if (context.env[WORKER] === undefined && settings.config.watch === "on") watchConfig(context, watched);
  if (context.env[WORKER] !== undefined || (workers === 1 && !heir)) return serveHere(settings, context);
  const { printError } = context;
  const read = () => loadConfig(configOptions(context));
  return supervise({ ...settings, workers, heir, read, printError });
}

/** Additions of another command to `weir serve`. It runs in one process. */
export interface ServeVariant {
  /** Parts of the gateway beside those of features. */
  workers?: StartOptions["workers"];
  plugins?: StartOptions["plugins"];
  /** Changes settings, also at each reload. */
  adjust(this: void, config: Config): Config;
  /** The lines to print once the gateway listens. @param table the start table of `weir serve` */
  describe(table: string, url: string, weir: RunningWeir): string;
  /** Starts the client for which the gateway runs; absent: the gateway runs until a signal. */
  client?(url: string): RunningClient;
}

/** The gateway ends with its client, and passes signals on to it. */
export interface RunningClient {
  /** The exit code. */
  exited: Promise<number>;
  signal(name: NodeJS.Signals): void;
}

/** Serves in this process alone. @returns the exit code */
export async function serveVariant(context: Context, variant: ServeVariant): Promise<number> {
  const settings = await readSettings(context);
  const config = variant.adjust(settings.config);
  if (existsSync(config.plugins.dir)) replaceProcess();
  return serveHere({ ...settings, config }, context, variant);
}

async function readSettings(context: Context, watched?: WatchedFiles): Promise<ReadSettings> {
  const { env } = context;
  const loaded = await withOwnCertificate(await readConfig({ ...configOptions(context), watched }), env);
  const reread = async (onFile?: LoadOptions["onFile"]) =>
    withOwnCertificate(await reloadConfig({ ...configOptions(context), onFile }), env);
  return { ...loaded, env, reread };
}

/** A config that was read, and how it is read again. */
interface ReadSettings extends LoadedConfig {
  env: Context["env"];
  reread(onFile?: LoadOptions["onFile"]): Promise<LoadedConfig>;
}

/** Serves in this process, alone or as a worker. */
async function serveHere(settings: ReadSettings, context: Context, variant?: ServeVariant): Promise<number> {
  const worker = workerOf(context.env);
  const supervised = worker && followSupervisor();
  const signals = worker ? undefined : new Signals();
  const { config } = settings;
  const sharesPort = mayBeFollowed(config) && !worker && !variant;
  let { port } = config;
  if (config.listen.unix !== undefined) await lockPath(config.listen.unix, context.env);
  else if (sharesPort) ({ port } = await lockPort(config.host, port, context.env));
  else if (!worker && port !== 0) await lockOnly(config.host, port, context.env);
  const home = worker ? worker.home : lockState(stateHome(config, context.env));
  const { startWeir } = await import("../run/weir.ts");
  let weir: RunningWeir | undefined;
  let reloader: Reloader | undefined;
  let client: RunningClient | undefined;
  let ending: Ending | undefined;
  guardProcess((message, attempt) => weir?.fault(message, attempt));
  const credential = createCredential();
  const services =
    supervised?.services ??
    new Services({
      ...{ home, env: context.env },
      fault: (text) => weir?.fault(text),
      info: (text) => weir?.info(text),
    });
  weir = await startWeir({
    ...settings,
    config: { ...config, port: worker?.port ?? port },
    sharesPort,
    terminal: process.stdout.isTTY,
    worker: worker?.number,
    keeper: worker && worker.keeper,
    isRestart: worker?.isRestart,
    ...{ home, services },
    plugins: variant?.plugins,
    columns: context.columns,
    keyOptions: context.keyOptions,
    references: context.references,
    headers: context.headers,
    ownPlugins: context.ownPlugins,
    workers: [...context.workers, ...(variant?.workers ?? [])],
    // With several processes the supervisor starts the keeper and has made the credential.
    adminCredential: credential,
    ...(worker?.waits && supervised && { onBuilt: supervised.built }),
    // A worker that starts again belongs to a gateway that was announced.
    announces: worker?.isRestart !== true,
    onListening(stop) {
      ending = new Ending(stop, () => stopTimes(reloader?.config ?? config));
      signals?.onEnd((name) => (client ? client.signal(name) : ending?.signal()));
    },
  });
  surviveFaults(weir);
  shrinkAfterStart();
  const books = await weir.books().catch(async (cause: unknown) => {
    await weir.stop();
    throw cause;
  });
  const ownTable = startTable(weir, config, books, process.stderr.isTTY);
  const table = variant?.describe(ownTable, weir.url, weir) ?? ownTable;
  const reloads = (reloader = new Reloader(weir, context, config, variant?.adjust));
  context.references?.onChange(() =>
    reloads.reload().catch((cause: unknown) => weir.fault(`a new secret is not in use: ${sentence(cause)}`)),
  );
  renewInTime(config, () => reloads.reload(), weir.fault.bind(weir));
  const ends = ending!;
  if (supervised)
    supervised.begin({
      table,
      ...(weir.admin && "url" in weir.admin && { admin: weir.admin.url }),
      ...(books.fault !== undefined && { fault: books.fault }),
      announced: () => weir.announce(),
      leave: () => weir.leave(),
      steer: async (how, newest) => (await import("../process/steering.ts")).steer(weir.port, how, newest),
      reload: () => reloads.reload(),
      drain: (delayMs) => ends.drain({ delayMs }),
      signal: () => ends.signal(),
    });
  else {
    const isForClient = variant?.client !== undefined;
    const parts = { weir, config, home, credential, reloads, ends, signals };
    standAlone({ ...parts, table, isForClient, isFollowed: sharesPort }, context);
    client = variant?.client?.(weir.url);
    void client?.exited.then((code) => ends.drain({ code }));
  }
  return ends.ended;
}

class Reloader {
  readonly #weir: RunningWeir;
  readonly #context: Context;
  readonly #adjust: (config: Config) => Config;
  #config: Config;
  #last = Promise.resolve();

  constructor(
    weir: RunningWeir,
    context: Context,
    config: Config,
    adjust: (config: Config) => Config = (read) => read,
  ) {
    this.#adjust = adjust;
    this.#weir = weir;
    this.#context = context;
    this.#config = config;
  }

  /** The active configuration. */
  get config(): Config {
    return this.#config;
  }

  /**
   * Reads the config again and activates it. Reloads run one after another.
   * @throws Error with one sentence; the previous configuration is then still active
   */
  reload(): Promise<void> {
    const done = this.#last.then(() => this.#reload());
    this.#last = done.catch(() => {});
    return done;
  }

  async #reload(): Promise<void> {
    const reread = async (onFile?: LoadOptions["onFile"]) => {
      const read = await reloadConfig({ ...configOptions(this.#context), onFile });
      const loaded = await withOwnCertificate(read, this.#context.env);
      return { ...loaded, config: this.#adjust(loaded.config) };
    };
    const settings = { ...(await reread()), env: this.#context.env, reread };
    await this.#weir.reload(settings);
    const changed = Object.keys(FIXED).filter(
      (name) => FIXED[name]!(settings.config) !== FIXED[name]!(this.#config),
    );
    if (changed.length > 0) this.#weir.info(`${changed.join(", ")}: changes take effect after a restart`);
    if (isFetchLimited(process.env) && this.#weir.parts.plugins.some(({ sha256 }) => sha256))
      this.#weir.info("plugins can run 256 requests of fetch at once; after a restart there is no limit");
    this.#config = settings.config;
  }
}

/** Ends this process: drains its calls, then exits. */
class Ending {
  readonly #stop: RunningWeir["stop"];
  readonly #times: () => StopTimes;
  readonly #ended = Promise.withResolvers<number>();
  #draining = false;
  /** Called when this begins. */
  onDrain: (() => void) | undefined;

  constructor(stop: RunningWeir["stop"], times: () => StopTimes) {
    this.#stop = stop;
    this.#times = times;
  }

  get ended(): Promise<number> {
    return this.#ended.promise;
  }

  /** @param code exit code @param delayMs how long it still takes calls @param graceMs default: that of the config */
  drain({ code = 0, delayMs = 0, graceMs = this.#times().graceMs } = {}): void {
    if (this.#draining) return;
    this.#draining = true;
    this.onDrain?.();
    void this.#stop(graceMs, delayMs).then(() => {
      this.#ended.resolve(code);
      exitProcess(code);
    });
  }

  /** The first signal drains, the second exits at once. */
  signal(): void {
    if (this.#draining) exitProcess(1);
    this.drain({ delayMs: this.#times().delayMs });
  }
}

/** Whether another gateway can take the place of one process: it listens on the same port meanwhile. */
function mayBeFollowed({ listen }: Config): boolean {
  return process.platform === "linux" && listen.unix === undefined;
}

interface StandAlone {
  weir: RunningWeir;
  config: Config;
  home: StateHome;
  table: string;
  credential: string;
  isForClient: boolean;
  isFollowed: boolean;
  reloads: Reloader;
  ends: Ending;
  /** Absent in a worker. */
  signals: Signals | undefined;
}

function standAlone(alone: StandAlone, context: Context): void {
  const { weir, table, credential, isForClient, reloads: reloader, ends: ending, signals } = alone;
  watchRunner(context.env, () => ending.drain());
  const file = RunFile.write(weir.port, context.env, {
    isForClient,
    report: (sentence) => weir.fault(sentence),
  });
  if (!isForClient) takeUpgrades(alone, file, context);
  if (weir.admin && "url" in weir.admin) file?.recordAdmin({ url: weir.admin.url, credential });
  signals?.onReload(() => {
    if (isForClient) return signals.pass("SIGHUP");
    reloader.reload().then(
      () => {
        const message = "the configuration was reloaded";
        weir.info(message);
        file?.recordReload({ ok: true, message });
      },
      (cause: unknown) => {
        const message = `reload failed; the previous configuration is still active: ${sentence(cause)}`;
        weir.fault(message);
        file?.recordReload({ ok: false, message });
      },
    );
  });
  process.on("exit", () => file?.remove());
  // Who asked /health can use the other commands now, and send signals.
  weir.announce();
  void notifyManager(context.env, "READY=1");
  context.printError(table);
}

/** SIGUSR2 lets another gateway take the place of this one, or says why none can. */
function takeUpgrades(alone: StandAlone, file: RunFile | undefined, { env }: Context): void {
  const { weir, ends, isFollowed, reloads, signals } = alone;
  const none = {
    ok: false,
    message: "only a gateway of weir serve that listens on a port of Linux can be upgraded",
  };
  let upgrades: Upgrades | undefined;
  if (isFollowed) {
    const graceMs = () => reloads.config.graceMs;
    const drain = (ms: number) => ends.drain({ graceMs: ms });
    upgrades = new Upgrades(ownerAlone({ ...alone, env, file, graceMs, drain }), undefined);
  }
  ends.onDrain = () => upgrades?.abort();
  let last = Promise.resolve();
  const upgrade = async () => {
    const outcome = (await upgrades?.run(file?.path)) ?? none;
    if (!outcome.ok) file?.recordUpgrade(outcome);
    if (outcome.ok) weir.info(outcome.message);
    else weir.fault(outcome.message);
  };
  signals?.onUpgrade(() => void (last = last.then(upgrade)));
}

/** Logs unhandled rejections and exceptions: one must not end the process with all its streams. */
function surviveFaults(weir: RunningWeir): void {
  process.on("unhandledRejection", (fault) => weir.fault("unhandled rejection", fault));
  process.on("uncaughtException", (fault) => weir.fault("uncaught exception", fault));
}
