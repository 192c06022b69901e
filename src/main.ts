/** The entry: the only file with effects at import. A clean process, then the command that was asked for. */
import { run } from "./cli/index.ts";
import { REHEARSAL } from "./external-plugins/preflight.ts";
import { takeStage } from "./external-plugins/preflight-worker.ts";
import { replaceProcess } from "./reexec.ts";

replaceProcess();
const [first, ...others] = process.argv.slice(2);
if (first === REHEARSAL) void takeStage(others);
// Not awaited: bytecode knows no top-level await.
else
  void run(process.argv.slice(2)).then((code) => {
    process.exitCode = code;
  });
