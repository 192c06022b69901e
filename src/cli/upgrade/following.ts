/** The steps by which a gateway takes the place of the one that has started it. */
import type { Steer } from "../../process/steering.ts";
import type { StateHome } from "../../run/home.ts";
import { lockAfter, takeState } from "../lock.ts";
import type { SupervisedKeeper } from "../supervised-keeper.ts";
import { sentence } from "../worker.ts";
import type { WorkerProcess } from "../worker-process.ts";
import type { Heir } from "./heir.ts";

export interface FollowingOptions {
  heir: Heir;
  keeper: SupervisedKeeper;
  home: StateHome;
  host: string;
  port: number;
  env: Readonly<Record<string, string | undefined>>;
  /** By number. */
  workers: ReadonlyMap<number, WorkerProcess>;
  /** Logs a fault. */
  report(text: string): void;
  /** Gives up. @param message one sentence */
  fail(message: string): void;
}

export class Following {
  readonly #options: FollowingOptions;
  #hasStore = false;
  #serves = false;

  constructor(options: FollowingOptions) {
    this.#options = options;
  }

  /** The keeper of the gateway before has ended. */
  get hasStore(): boolean {
    return this.#hasStore;
  }

  /** The gateway before has not left yet: a fault means that it goes on. */
  get isOpen(): boolean {
    return !this.#serves;
  }

  /** A worker has loaded all, and waits for the keeper, which gets the store now. */
  async inherit(worker: WorkerProcess): Promise<void> {
    const { heir, keeper, home, fail } = this.#options;
    try {
      await keeper.prepare();
      await heir.prepared();
      takeState(home);
      heir.takeSockets(keeper.socket);
      this.#hasStore = true;
      heir.hasStore(keeper.pid!);
      keeper.go();
      worker.go();
    } catch (cause) {
      fail(sentence(cause));
    }
  }

  /**
   * All workers serve: new connections go to them alone, and the gateway before leaves.
   * @param announce other commands find this gateway from then on
   */
  async succeed(announce: () => void): Promise<void> {
    const { heir, host, port, env, report } = this.#options;
    const fault = await this.#steer("spread");
    if (fault !== undefined)
      report(`connections may be refused when the gateway before this one ends: ${fault}`);
    this.#serves = true;
    announce();
    await heir.serves();
    await lockAfter(host, port, env).catch((cause) => report(sentence(cause)));
    await heir.closing;
    await this.#steer("one");
    heir.alone();
    await heir.closed;
    await this.#steer("free");
  }

  /** Tells why this gateway gives up, if the one before goes on. */
  tell(message: string): void {
    if (this.isOpen) this.#options.heir.fail(message);
  }

  async #steer(how: Steer): Promise<string | undefined> {
    const { workers } = this.#options;
    return [...workers.values()].find(({ serves }) => serves)?.steer(how, workers.size);
  }
}
