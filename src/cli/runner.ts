/**
 * The package runner (npm, npx, bun run) that started this process. A runner that is killed leaves its children running, so
 * the gateway watches the runner and ends with it. A gateway that no runner started keeps running when its parents end:
 * `weir serve &`, nohup and setsid work.
 */
import { readFileSync } from "node:fs";
import { beginningOf } from "../run/run-file.ts";

/** The environment variable that runners set for their child processes. */
const MARK = "npm_lifecycle_event";
const LOOK_MS = 1_000;

export interface Ancestor {
  pid: number;
  /** Its start time, which tells it from a later process with the same id. */
  began: string;
}

/**
 * @param onGone called once when the runner, or a process between it and this one, has ended
 * @param ancestors the runner, and the processes up to it
 */
export function watchRunner(
  env: Readonly<Record<string, string | undefined>>,
  onGone: () => void,
  ancestors: readonly Ancestor[] = runnerAncestors(env),
): void {
  if (ancestors.length === 0) return;
  const timer = setInterval(() => {
    if (ancestors.every(isAlive)) return;
    clearInterval(timer);
    onGone();
  }, LOOK_MS);
  timer.unref();
}

/** From the parent up to the runner, which is the first process without the mark; none without a runner. Without /proc, only the parent. */
export function runnerAncestors(env: Readonly<Record<string, string | undefined>>): Ancestor[] {
  if (!env[MARK]) return [];
  const found: Ancestor[] = [];
  for (let pid = process.ppid; pid > 1; pid = parentOf(pid)) {
    found.push({ pid, began: began(pid) });
    if (!hasMark(pid)) break;
  }
  return found;
}

function isAlive({ pid, began: before }: Ancestor): boolean {
  return began(pid) === before;
}

/** @returns "gone" for a process that has ended */
function began(pid: number): string {
  try {
    return beginningOf(pid);
  } catch (cause) {
    // EPERM: the process belongs to another user, but it exists.
    return (cause as NodeJS.ErrnoException).code === "EPERM" ? "" : "gone";
  }
}

function hasMark(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").includes(`${MARK}=`);
  } catch {
    return false;
  }
}

function parentOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return 0;
  }
}
