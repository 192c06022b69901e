/**
 * The package runner (npm, npx, bun run) that started this process. A runner that is killed leaves its children running,
 * and nothing else would end the gateway then. A gateway that no runner has started outlives its parents as it always did:
 * `weir serve &`, nohup and setsid work.
 */
import { readFileSync } from "node:fs";
import { beginningOf } from "./run-file.ts";

/** The variable that runners set for what they run. */
const MARK = "npm_lifecycle_event";
const LOOK_MS = 1_000;

interface Ancestor {
  pid: number;
  /** When it began: another process with the same id did not. */
  began: string;
}

/** @param onGone the runner, or a process between it and this one, has ended; called once */
export function watchRunner(env: Readonly<Record<string, string | undefined>>, onGone: () => void): void {
  if (!env[MARK]) return;
  const ancestors = runnerAncestors();
  const timer = setInterval(() => {
    if (ancestors.every(isAlive)) return;
    clearInterval(timer);
    onGone();
  }, LOOK_MS);
  timer.unref();
}

/** From the parent up to the runner, the first one that does not have the mark. Where the system does not tell, the parent. */
function runnerAncestors(): Ancestor[] {
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
    // A runner of another user may not be signalled, but it is there.
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
