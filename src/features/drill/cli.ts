/** `weir drill -- COMMAND`: runs a client against failures of a provider, one after another, and judges what it does. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { ANY_KEY, pointClient } from "../../cli/clients/index.ts";
import { type Context, UsageError } from "../../cli/command.ts";
import { withAbsolutePaths } from "./absolute-paths.ts";
import { type Fault, FAULTS } from "./faults.ts";
import { DEFAULT_PARALLEL, DEFAULT_SECONDS } from "./flags.ts";
import { junitFile } from "./junit.ts";
import { drillPlugin, type Exchanges } from "./plugin.ts";
import { describeEnding, describeRun, drill, type Drilled, type DrillResult } from "./run.ts";
import { faultJson, faultList, progressLine, resultJson, resultTable } from "./table.ts";

/** Exit codes beside 0: a verdict is `bad`, the client fails without a fault, the user ended the drill. */
const EXIT_BAD = 1;
const EXIT_BASELINE = 3;
const EXIT_INTERRUPTED = 130;

const MAX_SECONDS = 3_600;
const MAX_PARALLEL = 20;

/** @returns the exit code */
export async function run(context: Context): Promise<number> {
  const { flags, rest = [], cwd, print } = context;
  const faults = chooseFaults(FAULTS, flags["--only"]);
  if (flags["--list"] === true) {
    print(flags["--json"] ? JSON.stringify(faults.map(faultJson), null, 2) : faultList(faults));
    return 0;
  }
  if (rest.length === 0)
    throw new UsageError("drill needs the command of a client behind --: weir drill -- python ask.py");
  const isHere = flags["--here"] === true;
  return runDrill(context, {
    faults,
    limit: readCount(flags, "--timeout", DEFAULT_SECONDS, MAX_SECONDS),
    mustEnd: flags["--timeout"] !== undefined,
    parallel: readCount(flags, "--parallel", isHere ? 1 : DEFAULT_PARALLEL, MAX_PARALLEL),
    ...(isHere && { cwd }),
  });
}

interface Wanted {
  faults: readonly Fault[];
  limit: number;
  mustEnd: boolean;
  parallel: number;
  cwd?: string;
}

async function runDrill(context: Context, wanted: Wanted): Promise<number> {
  const { flags, rest = [], env, printError } = context;
  const command = wanted.cwd === undefined ? withAbsolutePaths(rest, context.cwd) : rest;
  const folder = await mkdtemp(join(tmpdir(), "weir-drill-"));
  const exchanges: Parameters<typeof startGateway>[0] = new Map();
  const gateway = await startGateway(exchanges, folder);
  const stop = new AbortController();
  const end = () => stop.abort("user");
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, end);
  const model = flags["--model"];
  const results: DrillResult[] = [];
  try {
    printError(
      `weir: drill of ${rest.join(" ")}: first without a fault, then ${wanted.faults.length} faults, ${wanted.limit} s at most for each`,
    );
    const drilled = await drill({
      ...wanted,
      ...{ gateway: gateway.url, exchanges, folder, stop: stop.signal },
      point: (url) =>
        pointClient(command, { url, key: ANY_KEY, ...(typeof model === "string" && { model }) }, env),
      onBaseline: ({ ms }) => printError(describeBaseline(ms / 1_000, wanted.limit)),
      onResult(result) {
        results.push(result);
        printError(progressLine(result, results.length, wanted.faults.length));
      },
    });
    return await report(context, drilled, folder, stop.signal.aborted);
  } catch (cause) {
    await rm(folder, { recursive: true, force: true });
    const isMissing = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
    if (isMissing) throw new UsageError(`${rest[0]} cannot be run: there is no such command`);
    throw cause;
  } finally {
    for (const name of ["SIGINT", "SIGTERM"] as const) process.off(name, end);
    await gateway.stop();
  }
}

/** @param seconds that the client needs without a fault */
function describeBaseline(seconds: number, limit: number): string {
  const passed = `weir: without a fault the client needs ${seconds.toFixed(1)} s`;
  if (seconds < limit / 2) return passed;
  return `${passed}, which is near the limit of ${limit} s: use a longer --timeout, or --parallel 1`;
}

/** Prints what came of the drill. @returns the exit code */
async function report(
  { flags, rest = [], cwd, print, printError }: Context,
  drilled: Drilled,
  folder: string,
  isInterrupted: boolean,
): Promise<number> {
  if (drilled.kind === "baseline") {
    await rm(folder, { recursive: true, force: true });
    if (isInterrupted) return EXIT_INTERRUPTED;
    const { run, requests } = drilled;
    const why =
      requests === 0
        ? "it sent no request for an answer to the address in its environment (weir exec has the same variables)"
        : `it sent ${requests} ${requests === 1 ? "request" : "requests"}, which were answered`;
    const where = flags["--here"] === true ? "" : "\nIt ran in an empty folder; --here runs it in this one.";
    printError(
      `weir: the client cannot be judged: without a fault it ${describeEnding(run)}, and ${why}.\n${describeRun(run)}${where}`,
    );
    return EXIT_BASELINE;
  }
  const { results } = drilled;
  print(flags["--json"] === true ? JSON.stringify(results.map(resultJson), null, 2) : resultTable(results));
  const junit = flags["--junit"];
  if (typeof junit === "string") {
    await Bun.write(resolve(cwd, junit), junitFile(rest.join(" "), results));
  }
  const bad = results.filter(({ verdict }) => verdict === "bad");
  if (flags["--verbose"] === true)
    for (const { fault, run } of bad) printError(`\n=== ${fault.name}\n${describeRun(run)}`);
  printError(`weir: what the client printed is in ${folder}`);
  if (isInterrupted) return EXIT_INTERRUPTED;
  return bad.length > 0 ? EXIT_BAD : 0;
}

function chooseFaults(all: readonly Fault[], only: Context["flags"][string]): readonly Fault[] {
  if (typeof only !== "string") return all;
  return only.split(",").map((name) => {
    const fault = all.find((each) => each.name === name.trim());
    if (fault) return fault;
    throw new UsageError(
      `--only: there is no fault "${name}"; there are ${all.map((each) => each.name).join(", ")}`,
    );
  });
}

function readCount(flags: Context["flags"], name: string, fallback: number, most: number): number {
  const text = flags[name];
  if (typeof text !== "string") return fallback;
  const count = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= most) return count;
  throw new UsageError(`${name} must be a whole number from 1 to ${most}, not ${JSON.stringify(text)}`);
}

/** A gateway in this process, with a port, settings and the plugin of the drill; the config of the user does not count. */
async function startGateway(
  exchanges: Exchanges,
  folder: string,
): Promise<{ url: string; stop(): Promise<void> }> {
  const { loadConfig } = await import("../../config/load.ts");
  const { startWeir } = await import("../../run/weir.ts");
  const loaded = loadConfig({ flags: { "--port": "0", "--log-level": "silent" }, env: {}, cwd: folder });
  const { config, ...sources } = loaded;
  const weir = await startWeir({
    ...sources,
    env: {},
    config: {
      ...config,
      workers: 1,
      aliases: { "*": "mock/chat" },
      retries: { attempts: 1, maybeSent: false },
    },
    plugins: [drillPlugin(exchanges)],
  });
  // A store that is not open yet delays the end.
  await weir.books();
  return weir;
}
