/** A gateway hands its port, its store and its locks over to another one, which it starts: its own side. */
import type { Subprocess } from "bun";
import { scriptArgs } from "../../process/program.ts";
import { cleanEnvironment } from "../../process/reexec.ts";
import { signalProcess } from "../../process/exit.ts";
import { sentence } from "../worker.ts";
import { type Estate, type FromHeir, HEIR, type ToHeir } from "./messages.ts";
import type { Order } from "./order.ts";

/** Maximum time from the start of the next gateway until it needs the store, including the preflight of plugins. Milliseconds. */
const PREPARE_MS = 75_000;
/** Then maximum time until all its workers serve. Milliseconds. */
const SERVE_MS = 60_000;
/** Clients leave kept connections with the next answer in this time; at most half of the grace period. Milliseconds. */
const LEAVE_MS = 5_000;
/** Maximum time for the next gateway to direct all connections away from listeners that close. Milliseconds. */
const ALONE_MS = 3_000;
/** After it, listeners have closed. Milliseconds. */
const CLOSED_MS = 300;
/** A gateway that failed still runs so long beyond the grace period. Milliseconds. */
const END_MS = 5_000;

/** The gateway that is replaced. */
export interface Owner {
  estate(): Estate;
  readonly graceMs: number;
  /** Lets the keeper of the next gateway listen where the admin API of this one does. Where it cannot, requests are refused for a moment. */
  share(): void | Promise<void>;
  /** Commits and ends the keeper. */
  passKeeper(): Promise<void>;
  /** Starts the keeper again. */
  takeKeeperBack(): void | Promise<void>;
  /** The next gateway serves: gives up the locks and asks clients to leave. @param pid process id of the next one */
  leave(pid: number): void;
  /** Closes the listeners, and ends the gateway when its answers have ended. @param graceMs maximum time for that */
  drain(graceMs: number): void;
}

/**
 * Starts the executable that is on the disk now, and hands over.
 * @param ended this gateway got the signal to end: the next one must not start
 * @returns when the next gateway serves; this one then ends by itself
 * @throws Error with one sentence; this gateway then goes on as before
 */
export async function handOver(owner: Owner, order: Order, ended: AbortSignal): Promise<void> {
  await owner.share();
  const heir = new StartedHeir(order);
  ended.addEventListener("abort", () => heir.giveUp("the running gateway was told to end"), { once: true });
  let hasPassed = false;
  try {
    heir.send({ kind: "estate", estate: owner.estate() });
    await heir.hear("prepared", PREPARE_MS);
    hasPassed = true;
    await owner.passKeeper();
    heir.send({ kind: "keeper" });
    await heir.hear("serving", SERVE_MS);
  } catch (cause) {
    await heir.end(owner.graceMs + END_MS);
    if (hasPassed) await owner.takeKeeperBack();
    throw cause;
  }
  owner.leave(heir.pid);
  heir.send({ kind: "released" });
  void depart(owner, heir);
}

/** Workers serve on until clients have left their kept connections, and then close their listeners. */
async function depart(owner: Owner, heir: StartedHeir): Promise<void> {
  const leaveMs = Math.min(LEAVE_MS, owner.graceMs / 2);
  await Bun.sleep(leaveMs);
  heir.send({ kind: "closing" });
  await heir.hear("alone", ALONE_MS).catch(() => {});
  setTimeout(() => heir.send({ kind: "closed" }), CLOSED_MS);
  owner.drain(owner.graceMs - leaveMs);
}

/** The next gateway, as the one that has started it sees it. */
class StartedHeir {
  readonly #child: Subprocess;
  readonly #heard = new Map<FromHeir["kind"], PromiseWithResolvers<void>>();
  readonly #failed = Promise.withResolvers<never>();
  #keeper: number | undefined;

  /** @throws Error with one sentence when the executable cannot be started */
  constructor({ executable = process.execPath, flags }: Order) {
    this.#failed.promise.catch(() => {});
    try {
      this.#child = Bun.spawn({
        cmd: [executable, ...scriptArgs(), ...process.argv.slice(2), ...flags],
        env: { ...cleanEnvironment(process.env), [HEIR]: "1" },
        stdio: ["ignore", "inherit", "inherit"],
        serialization: "json",
        ipc: (message: FromHeir) => this.#take(message),
        onExit: (_, code, signal) => {
          const how = signal === null ? `with code ${code}` : `by signal ${signal}`;
          this.#failed.reject(new Error(`the new gateway ended ${how} before it served; see its log`));
        },
      });
    } catch (cause) {
      throw new Error(`${executable} cannot be started: ${sentence(cause)}`, { cause });
    }
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Callers that wait for it get this error. */
  giveUp(message: string): void {
    this.#failed.reject(new Error(message));
  }

  send(message: ToHeir): void {
    try {
      this.#child.send(message);
    } catch {
      // It has ended, which is noticed elsewhere.
    }
  }

  /** @throws Error with one sentence if it ends before, or does not say it in time */
  async hear(kind: FromHeir["kind"], ms: number): Promise<void> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => late.reject(new Error(`the new gateway was not ready within ${ms / 1000} s; see its log`)),
      ms,
    );
    await Promise.race([this.#of(kind).promise, this.#failed.promise, late.promise]).finally(() =>
      clearTimeout(timer),
    );
  }

  /** Ends it, with its keeper, which would go on while workers of this gateway are connected. */
  async end(patienceMs: number): Promise<void> {
    this.#child.kill("SIGTERM");
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), patienceMs);
    await this.#child.exited;
    clearTimeout(timer);
    if (this.#keeper !== undefined) await killed(this.#keeper);
  }

  #of(kind: FromHeir["kind"]): PromiseWithResolvers<void> {
    const known = this.#heard.get(kind) ?? Promise.withResolvers<void>();
    this.#heard.set(kind, known);
    return known;
  }

  #take(message: FromHeir): void {
    if (message.kind === "failed") this.giveUp(message.message);
    else if (message.kind === "keeper") this.#keeper = message.pid;
    else this.#of(message.kind).resolve();
  }
}

/** Resolves when a process has ended, which is killed if it still runs. */
async function killed(pid: number): Promise<void> {
  try {
    for (;;) {
      signalProcess(pid, "SIGKILL");
      await Bun.sleep(10);
    }
  } catch {
    // There is no such process any more.
  }
}
