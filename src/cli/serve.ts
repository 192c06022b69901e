/** `weir serve`: starts the gateway, in one process or in several, and keeps it running until a signal ends it. */
import { loadConfig, type LoadOptions, reloadConfig } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { exitProcess, guardProcess } from "../exit.ts";
import type { RunningWeir } from "../start.ts";
import type { Command, Context } from "./command.ts";
import { CONFIG_FLAGS, valueFlags } from "./command.ts";
import { RunFile } from "./run-file.ts";
import { startTable } from "./start-table.ts";
import { supervise } from "./supervise.ts";
import type { FromWorker, ToWorker } from "./worker.ts";
import { wantedWorkers, WORKER, workerOf } from "./worker.ts";

export const serve: Command = {
  name: "serve",
  summary: "start the gateway",
  words: [],
  flags: [
    { name: "--host", value: "HOST", help: "address to listen on (default 127.0.0.1)" },
    { name: "--port", value: "PORT", help: "port to listen on (default 9347; 0 takes a free one)" },
    ...CONFIG_FLAGS,
    { name: "--workers", value: "N", help: "processes that share the port (default: one a core on Linux)" },
    {
      name: "--log-format",
      value: "FORMAT",
      help: "auto, json or pretty",
      completes: ["auto", "json", "pretty"],
    },
    {
      name: "--log-level",
      value: "LEVEL",
      help: "info, warn, error or silent",
      completes: ["info", "warn", "error", "silent"],
    },
  ],
  async run(context) {
    const settings = readSettings(context);
    const workers = wantedWorkers(settings.config);
    if (context.env[WORKER] === undefined && workers > 1)
      return supervise({
        ...settings,
        workers,
        read: () => readSettings(context),
        printError: context.printError,
      });
    return serveHere(settings, context);
  },
};

function readSettings(context: Context) {
  return { ...loadConfig(loadOptions(context)), env: context.env };
}

function loadOptions({ flags, env, cwd }: Context): LoadOptions {
  return { flags: valueFlags(flags), env, cwd };
}

/** Serves in this process, alone or as a worker. */
async function serveHere(settings: ReturnType<typeof readSettings>, context: Context): Promise<number> {
  const { config } = settings;
  const worker = workerOf(context.env);
  const { startWeir } = await import("../start.ts");
  let weir: RunningWeir | undefined;
  guardProcess((message, attempt) => weir?.fault(message, attempt));
  weir = await startWeir({
    ...settings,
    config: worker ? { ...config, port: worker.port } : config,
    terminal: process.stdout.isTTY,
    worker: worker?.number,
  });
  surviveFaults(weir);
  const table = startTable(weir, config);
  const reload = reloader(weir, config, context);
  // In front of what tells others that it runs: from then on it is sent signals.
  const ended = stopOnSignal(weir, config.graceMs, worker !== undefined);
  if (worker) obey(weir, table, reload, config.graceMs);
  else standAlone(weir, table, reload, context);
  return ended;
}

/** Options that only a start takes into force. */
const FIXED = ["host", "port", "workers"] as const;

/**
 * Reads the config again and takes it into force; a second reload waits for the first.
 * @throws Error with one sentence; then nothing has changed
 */
function reloader(weir: RunningWeir, config: Config, context: Context): () => Promise<void> {
  let current = config;
  let last: Promise<unknown> = Promise.resolve();
  const reload = async () => {
    const settings = { ...(await reloadConfig(loadOptions(context))), env: context.env };
    await weir.reload(settings);
    const changed = FIXED.filter((name) => settings.config[name] !== current[name]);
    if (changed.length > 0) weir.info(`${changed.join(", ")}: takes effect at the next start`);
    current = settings.config;
  };
  return () => {
    const done = last.then(reload);
    last = done.catch(() => {});
    return done;
  };
}

function standAlone(weir: RunningWeir, table: string, reload: () => Promise<void>, context: Context): void {
  const file = RunFile.write(weir.port, context.env);
  process.on("SIGHUP", () => {
    reload().then(
      () => {
        weir.info("the config was loaded again");
        file?.tell({ ok: true, message: "the config was loaded again" });
      },
      (cause: unknown) => {
        const message = sentence(cause);
        weir.fault(`the config stays as it was: ${message}`);
        file?.tell({ ok: false, message });
      },
    );
  });
  process.on("exit", () => file?.remove());
  context.printError(table);
}

/** A worker says what becomes of it and does what it is told; without a supervisor it ends, as if told to. */
function obey(weir: RunningWeir, table: string, reload: () => Promise<void>, graceMs: number): void {
  const say = (message: FromWorker) => void process.send?.(message);
  process.on("message", (message: ToWorker) => {
    if (message.kind !== "reload") return;
    reload().then(
      () => say({ kind: "reloaded" }),
      (cause: unknown) => say({ kind: "refused", message: sentence(cause) }),
    );
  });
  process.on("disconnect", () => void weir.stop(graceMs).then(() => exitProcess(0)));
  say({ kind: "ready", table });
}

function sentence(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

/** One rejection nobody awaits must not end every stream (runtime finding 10). */
function surviveFaults(weir: RunningWeir): void {
  process.on("unhandledRejection", (fault) => weir.fault("unhandled rejection", fault));
  process.on("uncaughtException", (fault) => weir.fault("uncaught exception", fault));
}

/** The first signal drains, the second is immediate. A terminal's interrupt reaches workers too: their supervisor decides. */
function stopOnSignal(weir: RunningWeir, graceMs: number, isWorker: boolean): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  let stopping = false;
  const stop = () => {
    if (stopping) exitProcess(1);
    stopping = true;
    void weir.stop(graceMs).then(() => {
      resolve(0);
      exitProcess(0);
    });
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", isWorker ? () => {} : stop);
  return promise;
}
