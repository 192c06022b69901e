/** The upgrades of a gateway: at most one at a time, and none that cannot succeed. */
import { rmSync } from "node:fs";
import type { Config } from "../../config/schema.ts";
import type { StateHome } from "../../run/home.ts";
import { shareListening } from "../../process/listeners.ts";
import { isService, notifyManager } from "../../process/notify.ts";
import type { RunFile, SignalOutcome } from "../../run/run-file.ts";
import type { RunningWeir } from "../../run/running-weir.ts";
import { takeState, unlockAddresses } from "../lock.ts";
import { runnerAncestors } from "../runner.ts";
import { socketPath } from "../socket-path.ts";
import { sentence } from "../worker.ts";
import { storeOf } from "./heir.ts";
import { takeOrder } from "./order.ts";
import { handOver, type Owner } from "./succession.ts";

/** The only process of a gateway, where an upgrade changes it. */
export interface Alone {
  weir: RunningWeir;
  config: Config;
  home: StateHome;
  env: Readonly<Record<string, string | undefined>>;
  /** Credential of the run. */
  credential: string;
  /** Absent where it cannot be written. */
  file: RunFile | undefined;
  graceMs(): number;
  /** Ends the process when its answers have ended. */
  drain(graceMs: number): void;
}

/** What an upgrade does with a gateway of one process. The next one has its keeper in a process, as one with several workers. */
export function ownerAlone({ weir, config, home, env, credential, file, graceMs, drain }: Alone): Owner {
  let socket: string | undefined;
  const ancestors = runnerAncestors(env);
  const path = () => (socket ??= socketPath("keeper", home, env));
  process.on("exit", () => socket !== undefined && rmSync(socket, { force: true }));
  return {
    get graceMs() {
      return graceMs();
    },
    estate: () => ({
      ...{ pid: process.pid, host: config.host, port: weir.port, home, store: storeOf(home, config) },
      sockets: [path()],
      ...(weir.admin && "url" in weir.admin && { admin: weir.admin.url }),
      ...{ credential, ancestors },
    }),
    async share() {
      if (weir.admin && "url" in weir.admin)
        await shareListening(Number(new URL(weir.admin.url).port)).catch(() => {});
    },
    passKeeper: () => weir.passKeeper(path()),
    async takeKeeperBack() {
      takeState(home);
      await weir.takeKeeperBack();
    },
    leave(pid) {
      leaveTo(pid, file, env);
      weir.leave();
    },
    drain,
  };
}

/** The locks, the run file and the service are those of the next gateway. @param pid its process id */
export function leaveTo(pid: number, file: RunFile | undefined, env: Alone["env"]): void {
  unlockAddresses();
  file?.leave();
  void notifyManager(env, `MAINPID=${pid}`);
}

export class Upgrades {
  readonly #owner: Owner;
  readonly #before: Promise<void> | undefined;
  readonly #ended = new AbortController();
  #hasLeft = false;

  /** @param before the gateway that this one follows does not listen any more */
  constructor(owner: Owner, before: Promise<void> | undefined) {
    this.#owner = owner;
    this.#before = before;
  }

  /** The gateway got the signal to end: one that is about to take its place must not start. */
  abort(): void {
    this.#ended.abort();
  }

  /** @param runFile path of the run file, beside which an order may lie */
  async run(runFile: string | undefined): Promise<SignalOutcome> {
    const order = takeOrder(runFile);
    try {
      if (this.#hasLeft) throw new Error("another gateway has taken the place of this one");
      if (process.pid === 1)
        throw new Error(
          "weir is the first process of its container, which ends with it; replace the container",
        );
      if (isService(process.env) && !process.env["NOTIFY_SOCKET"])
        throw new Error(
          "systemd takes the end of this process for the end of the service; the unit needs Type=notify",
        );
      await this.#before;
      await handOver(this.#owner, order, this.#ended.signal);
      this.#hasLeft = true;
      return {
        ok: true,
        message: "another process has taken the place of this gateway, which ends with its last answer",
      };
    } catch (cause) {
      return { ok: false, message: `the upgrade failed; the gateway runs on as before: ${sentence(cause)}` };
    }
  }
}
