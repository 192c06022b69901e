/** The preflight process: imports one file after another and reports its progress on standard output. */
import { writeSync } from "node:fs";
import { registerWeir } from "./virtual.ts";

/** @param args a token that marks the lines of the preflight, then the files. Ends the process. */
export async function runPreflightWorker([token = "", ...files]: readonly string[]): Promise<void> {
  const exit = process.exit.bind(process);
  // Without this timer, top-level code that awaits a promise without any pending event would end the process as if it succeeded.
  setInterval(() => {}, 60_000);
  registerWeir();
  for (const file of files) {
    say(token, "begin");
    // An exception or a syntax error is harmless here: the gateway's own import reports it.
    await import(file).catch(() => {});
    // Work that the top-level code schedules for the next turn of the event loop belongs to it.
    await new Promise(setImmediate);
    say(token, "passed");
  }
  exit(0);
}

/** Begins with a line break, because a plugin may have written part of a line. */
function say(token: string, word: string): void {
  writeSync(1, `\n${token} ${word}\n`);
}
