/** Asks a running gateway, which may be this one, to reload: by its signal, as an operator does. */
import { signalProcess } from "../process/exit.ts";
import { readRunFile, type RunningGateway } from "./run-file.ts";

/** Maximum time for a reload, in which plugins pass the preflight and models are checked. Milliseconds. */
const RELOAD_TIMEOUT_MS = 60_000;

/** Makes a gateway reload, and waits for the result. @returns undefined if it does not come in time */
export async function reloadGateway(
  entry: RunningGateway,
): Promise<{ ok: boolean; message: string } | undefined> {
  const before = entry.reload?.count ?? 0;
  signalProcess(entry.pid, "SIGHUP");
  for (const until = performance.now() + RELOAD_TIMEOUT_MS; performance.now() < until; await Bun.sleep(25)) {
    const now = readRunFile(entry.path);
    if (!now) return { ok: false, message: "the gateway has ended; see its log" };
    if (now.reload && now.reload.count !== before) return now.reload;
  }
  return undefined;
}
