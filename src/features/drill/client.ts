/** Runs a client in a process group of its own, so that the processes it starts can be ended too. */
import type { Output } from "./output.ts";

/** How a run ended. `stopped`: the drill ended the client, because the time was over, it sent a flood, or the user wanted it. */
export type Ending =
  { kind: "exit"; code: number } | { kind: "signal"; signal: string } | { kind: "stopped"; why: StopReason };

export type StopReason = "time" | "flood" | "user";

export interface ClientOptions {
  command: readonly string[];
  env: Record<string, string | undefined>;
  cwd: string;
  /** Milliseconds. */
  limit: number;
  /** Ends the client; its reason is a {@link StopReason}. */
  stop: AbortSignal;
  /** Called when the run is over, before the drill ends what still runs. */
  onEnd(): void;
}

export interface ClientRun extends Output {
  ending: Ending;
  /** Duration, in milliseconds. */
  ms: number;
}

/** Time for a client to end after SIGTERM, and for its pipes to close. Milliseconds. */
const FAREWELL_MS = 500;
/** More output is dropped. UTF-16 units. */
const MAX_OUTPUT = 2_000_000;

/** @throws Error if the command cannot be run */
export async function runClient(options: ClientOptions): Promise<ClientRun> {
  const { command, env, cwd, limit, stop, onEnd } = options;
  const begun = performance.now();
  const child = Bun.spawn([...command], {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const [out, err] = [collect(child.stdout), collect(child.stderr)];
  const stopped = await waitFor(child.exited, limit, stop);
  onEnd();
  const ms = performance.now() - begun;
  if (stopped !== undefined) {
    signalGroup(child.pid, "SIGTERM");
    await Promise.race([child.exited, Bun.sleep(FAREWELL_MS)]);
  }
  // Processes that the client started may outlive it, and hold its pipes.
  signalGroup(child.pid, "SIGKILL");
  await child.exited;
  await Promise.race([Promise.all([out.done, err.done]), Bun.sleep(FAREWELL_MS)]);
  const { exitCode, signalCode } = child;
  const ending: Ending =
    stopped !== undefined
      ? { kind: "stopped", why: stopped }
      : signalCode === null
        ? { kind: "exit", code: exitCode ?? 0 }
        : { kind: "signal", signal: String(signalCode) };
  return { ending, ms, out: out.text(), err: err.text() };
}

/** @returns why the drill ends the client; undefined if it ended by itself */
function waitFor(
  exited: Promise<unknown>,
  limit: number,
  stop: AbortSignal,
): Promise<StopReason | undefined> {
  const { promise, resolve } = Promise.withResolvers<StopReason | undefined>();
  const timer = setTimeout(() => resolve("time"), limit);
  const end = () => resolve(stop.reason as StopReason);
  if (stop.aborted) end();
  stop.addEventListener("abort", end, { once: true });
  void exited.then(() => resolve(undefined));
  return promise.finally(() => {
    clearTimeout(timer);
    stop.removeEventListener("abort", end);
  });
}

function signalGroup(leader: number, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(-leader, signal);
  } catch {
    // The group has ended.
  }
}

function collect(stream: ReadableStream<Uint8Array>): { done: Promise<void>; text(): string } {
  let text = "";
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const chunk of stream)
      if (text.length < MAX_OUTPUT) text += decoder.decode(chunk, { stream: true });
  };
  return { done: read().catch(() => {}), text: () => text };
}
