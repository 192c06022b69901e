/** Reloads the gateway by itself when a file of its config changes: in a pod no operator sends it a signal. */
import { reloadConfig } from "../config/load.ts";
import { WatchedFiles } from "../config/watched.ts";
import { signalProcess } from "../process/exit.ts";
import { configOptions, type Context } from "./command.ts";

/**
 * How often weir looks. It asks for the state of each file instead of being told of changes: a config map changes by a link to a
 * folder that is swapped, of which a watcher of the file learns nothing. Milliseconds.
 */
const LOOK_MS = 1_000;

/**
 * Sends this process SIGHUP, which reloads the config, when a file has changed and then stays as it is from one look to the next: a
 * file that is still being written is not read.
 * @param files that the config at the start was read from
 */
export function watchConfig(context: Context, files: WatchedFiles): void {
  // Without a handler the signal ends a process, and one that starts has none yet.
  process.on("SIGHUP", () => {});
  let watched = files;
  let known = files.read;
  let last = known;
  const look = async (): Promise<void> => {
    const now = watched.now;
    const isSettled = now === last;
    last = now;
    if (now === known || !isSettled) return;
    const next = new WatchedFiles();
    // A config that is refused is reported by the reload.
    await reloadConfig({ ...configOptions(context), watched: next }).catch(() => next.keep(watched));
    watched = next;
    known = last = next.read;
    signalProcess(process.pid, "SIGHUP");
  };
  let isLooking = false;
  setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    void look().finally(() => (isLooking = false));
  }, LOOK_MS).unref();
}
