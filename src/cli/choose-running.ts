/** Chooses one of the gateways that this user runs, for the commands that are about one. */
import { type RunningGateway, runningGateways } from "../run/run-file.ts";
import { table } from "./terminal.ts";

export interface ChoiceOptions {
  /** `--port`, as the user wrote it. Default: the only gateway. */
  port?: string;
  /** Also gateways that run for a client, and end with it. */
  forClients?: boolean;
  /** Advice about a gateway that is not found: "if one runs elsewhere, reload it with kill -HUP PID". */
  elsewhere: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** @throws Error with one sentence if there is none, or if there are several and the user named none */
export function chooseRunning(
  env: Environment,
  { port, forClients = false, elsewhere }: ChoiceOptions,
): RunningGateway {
  const running = listRunning(env).filter(({ isForClient }) => forClients || !isForClient);
  const found = port === undefined ? running : running.filter((entry) => String(entry.port) === port);
  const [entry] = found;
  if (entry && found.length === 1) return entry;
  if (entry) throw new Error(severalRunning(found));
  const where = port === undefined ? "" : ` on port ${port}`;
  const others = running.length === 0 ? "" : ` (running: port ${portsOf(running)})`;
  throw new Error(`no gateway of this user is running${where}${others}; ${elsewhere}`);
}

/** All of this user, by port. */
export function listRunning(env: Environment): RunningGateway[] {
  return runningGateways(env).sort((one, other) => one.port - other.port);
}

/** A sentence and a row for each: port, process, folder. */
export function severalRunning(running: readonly RunningGateway[]): string {
  const rows = running.map(({ port, pid, folder = "" }) => [
    port === 0 ? "unix socket" : `port ${port}`,
    `pid ${pid}`,
    folder,
  ]);
  return `several gateways are running; choose one with --port:\n${table(rows, "  ")}`;
}

function portsOf(running: readonly RunningGateway[]): string {
  return running.map(({ port }) => port).join(", ");
}
