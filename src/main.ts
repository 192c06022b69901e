/** The entry point, the only file with effects at import: cleans the environment, then runs a command. */
import { run } from "./cli/index.ts";
import { PREFLIGHT_FLAG } from "./external-plugins/preflight.ts";
import { runPreflightWorker } from "./external-plugins/preflight-worker.ts";
import { replaceProcess } from "./reexec.ts";

replaceProcess();
const [first, ...others] = process.argv.slice(2);
if (first === PREFLIGHT_FLAG) void runPreflightWorker(others);
// Not awaited: bytecode does not support top-level await.
else
  void run(process.argv.slice(2)).then((code) => {
    process.exitCode = code;
  });
