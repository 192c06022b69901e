/** Stops weir at the end of the job, which fails if the tape lacked a request or weir had ended before. */
import { readFileSync } from "node:fs";
import { stop } from "./gateway.mjs";
import { annotate, printGroup } from "./runner.mjs";

/** The error of a request that is not on the tape. */
const MISSED = "not_on_tape";

/** @param {string} text the log @returns {string[]} the messages of all requests that the tape lacked */
function missesIn(text) {
  return text.split("\n").flatMap((line) => {
    if (!line.includes(MISSED)) return [];
    try {
      const { error } = JSON.parse(line);
      return error?.code === MISSED ? [error.message] : [];
    } catch {
      return [];
    }
  });
}

const { STATE_pid: pid, STATE_log: log } = process.env;
// Without them, weir did not start, and the job has failed.
if (pid && log) {
  const wasRunning = await stop(Number(pid));
  const text = readFileSync(log, "utf8");
  printGroup("Log of weir", text);
  const misses = missesIn(text);
  for (const message of misses) annotate(message);
  if (!wasRunning) annotate("weir ended before the job did. Its log above tells why.");
  if (misses.length > 0 || !wasRunning) process.exitCode = 1;
}
