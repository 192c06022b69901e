/** The process of the rehearsal: imports file by file and says on standard output how far it has come. */
import { writeSync } from "node:fs";
import { registerWeir } from "./virtual.ts";

/** @param args a token that marks the lines of the rehearsal, then the files. Ends the process. */
export async function takeStage([token = "", ...files]: readonly string[]): Promise<void> {
  const exit = process.exit.bind(process);
  // A top level that waits for nothing at all would end the process as if it were done.
  setInterval(() => {}, 60_000);
  registerWeir();
  for (const file of files) {
    say(token, "begin");
    // One that throws, or cannot be parsed, does no harm: the gateway's own import says why.
    await import(file).catch(() => {});
    // What the top level leaves for the next turn of the loop belongs to it.
    await new Promise(setImmediate);
    say(token, "passed");
  }
  exit(0);
}

/** Behind a line end of its own: a plugin may have written half a line before. */
function say(token: string, word: string): void {
  writeSync(1, `\n${token} ${word}\n`);
}
