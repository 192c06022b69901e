/** What `weir upgrade` wants to be started: a small file beside the run file of the gateway, which the signal says to read. */
import { chownSync, lstatSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { isObject, parseJson } from "../../core/json.ts";

export interface Order {
  /** Flags of `weir serve`, which count in place of the same ones of the running gateway. */
  flags: readonly string[];
  /** Path of the executable. Default: that of the running gateway, as it is on the disk now. */
  executable?: string;
}

/** @param runFile path of the run file */
function pathOf(runFile: string): string {
  return `${runFile.replace(/\.json$/, "")}.upgrade`;
}

/** @throws Error of the file system */
export function writeOrder(runFile: string, order: Order): void {
  const path = pathOf(runFile);
  rmSync(path, { force: true });
  writeFileSync(path, JSON.stringify(order), { mode: 0o600, flag: "wx" });
  const { uid, gid } = lstatSync(runFile);
  // Root may ask the gateway of another user.
  if (process.getuid?.() === 0) chownSync(path, uid, gid);
}

/** Takes the order that was written last. @returns an empty one if there is none, as for a signal of an operator */
export function takeOrder(runFile: string | undefined): Order {
  if (runFile === undefined) return { flags: [] };
  const path = pathOf(runFile);
  try {
    const read = parseJson(readFileSync(path, "utf8"));
    if (!isObject(read) || !Array.isArray(read.flags)) return { flags: [] };
    const { flags, executable } = read;
    return { flags: flags.map(String), ...(typeof executable === "string" && { executable }) };
  } catch {
    return { flags: [] };
  } finally {
    rmSync(path, { force: true });
  }
}
