/** The entry: the only file with effects at import. A clean process, then the command that was asked for. */
import { run } from "./cli/index.ts";
import { REHEARSAL } from "./dropped/rehearse.ts";
import { takeStage } from "./dropped/stage.ts";
import { replaceProcess } from "./replace.ts";

replaceProcess();
const [first, ...others] = process.argv.slice(2);
if (first === REHEARSAL) void takeStage(others);
// Not awaited: bytecode knows no top-level await.
else
  void run(process.argv.slice(2)).then((code) => {
    process.exitCode = code;
  });
