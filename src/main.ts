/** The entry: the only file with effects at import. A clean process, then the command that was asked for. */
import { run } from "./cli/index.ts";
import { replaceProcess } from "./replace.ts";

replaceProcess();
// Not awaited: bytecode knows no top-level await.
void run(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
