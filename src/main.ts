/**
 * The entry point, the only file with effects at import: cleans the environment, then imports and runs a command. A process
 * that is replaced imports nothing else.
 */
import { PREFLIGHT_FLAG } from "./program.ts";
import { mustReplace, replaceProcess } from "./reexec.ts";

if (mustReplace(process.env)) replaceProcess();
void run(process.argv.slice(2));

async function run(args: readonly string[]): Promise<void> {
  const [first, ...others] = args;
  if (first === PREFLIGHT_FLAG) {
    const { runPreflightWorker } = await import("./external-plugins/preflight-worker.ts");
    return runPreflightWorker(others);
  }
  const cli = await import("./cli/index.ts");
  process.exitCode = await cli.run(args);
}
