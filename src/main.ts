/**
 * The entry point, the only file with effects at import: cleans the environment, then imports and runs a command. A process
 * that is replaced imports nothing else. The threads with this entry are those of the keeper.
 */
import type { KeeperHost } from "./keeper/seams.ts";
import { KEEPER_FLAG, PREFLIGHT_FLAG, SERVICE_FLAG } from "./process/program.ts";
import { mustReplace, replaceProcess } from "./process/reexec.ts";

if (Bun.isMainThread) {
  if (mustReplace(process.env)) replaceProcess();
  void run(process.argv.slice(2));
} else {
  // Messages are lost while there is no handler.
  const early: unknown[] = [];
  self.onmessage = ({ data }) => void early.push(data);
  void import("./keeper/thread.ts").then(({ runThread }) =>
    runThread(early, async (settings) =>
      (await import("./run/keeper.ts")).openKeeper(settings, false, { declarations, tables, parts }),
    ),
  );
}

async function declarations() {
  const [{ columnsOf, keyOptionsOf, operationsOf }, list] = await Promise.all([
    import("./feature/feature.ts"),
    features(),
  ]);
  return { columns: columnsOf(list), keyOptions: keyOptionsOf(list), operations: await operationsOf(list) };
}

async function tables() {
  const [{ tablesOf }, list] = await Promise.all([import("./feature/feature.ts"), features()]);
  return tablesOf(list);
}

async function parts(host: KeeperHost) {
  const [{ keeperPartsOf }, list] = await Promise.all([import("./feature/feature.ts"), features()]);
  return keeperPartsOf(list, host);
}

async function services() {
  const [{ servicesOf }, list] = await Promise.all([import("./feature/feature.ts"), features()]);
  return servicesOf(list);
}

/** The features of this build. */
async function features() {
  const [{ featuresIn }, exported] = await Promise.all([
    import("./feature/feature.ts"),
    import("./features.ts"),
  ]);
  return featuresIn(exported);
}

async function run(args: readonly string[]): Promise<void> {
  const [first, ...others] = args;
  if (first === PREFLIGHT_FLAG) {
    const { runPreflightWorker } = await import("./external-plugins/preflight-worker.ts");
    return runPreflightWorker(others);
  }
  if (first === KEEPER_FLAG) {
    const { runKeeper } = await import("./cli/keeper.ts");
    return runKeeper(others, { declarations, tables, parts });
  }
  if (first === SERVICE_FLAG) {
    const { runService } = await import("./cli/service.ts");
    return runService(others, await services());
  }
  const [cli, list] = await Promise.all([import("./cli/index.ts"), features()]);
  process.exitCode = await cli.run(args, list);
}
