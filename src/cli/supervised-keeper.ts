/** The keeper's process from the supervisor's side: runs until the workers have ended. */
import { rmSync } from "node:fs";
import { withPortOf } from "../operator/settings.ts";
import type { KeeperSettings } from "../keeper/settings.ts";
import { KEEPER_FLAG } from "../process/program.ts";
import { KeptProcess } from "./kept-process.ts";
import { KEEPER_SETTINGS } from "./worker.ts";

/** Maximum time for the keeper to commit and close its file. Milliseconds. */
const STOP_MS = 3_000;
/** The same for the next keeper, while calls go on: one that is killed has not said that it passes, and calls do not wait for the next. Milliseconds. */
const PASS_MS = 15_000;

export class SupervisedKeeper {
  /** Path of its socket. */
  readonly socket: string;
  #settings: KeeperSettings;
  readonly #process: KeptProcess;
  #restarts = 0;

  /** @param report logs a fault */
  constructor(socket: string, settings: KeeperSettings, report: (text: string) => void) {
    this.socket = socket;
    this.#settings = settings;
    this.#process = new KeptProcess({
      ...{ name: "the keeper", stopMs: STOP_MS, passMs: PASS_MS, report },
      // The settings may contain a password, and other users can read arguments.
      program: () => ({
        args: [KEEPER_FLAG, socket],
        env: { [KEEPER_SETTINGS]: JSON.stringify(this.#settings) },
      }),
      onEnd: () => this.#countRestart(),
    });
  }

  /** Folder of the cells. */
  get cells(): string | undefined {
    return this.#settings.books?.cells;
  }

  /** The admin API must not move when the keeper is started again. */
  keepAdminAt(url: string): void {
    const { admin } = this.#settings;
    if (admin) this.#settings = { ...this.#settings, admin: withPortOf(admin, { url }) };
  }

  /** @param url of the admin API of the gateway that this one follows; the keeper listens there too, unless the config names another place */
  followAdmin(url: string): void {
    if (this.#settings.admin?.port === undefined) this.keepAdminAt(url);
    const { admin } = this.#settings;
    const { hostname, port } = new URL(url);
    const isSame = admin?.port === Number(port) && [admin.host, `[${admin.host}]`].includes(hostname);
    if (isSame) this.#settings = { ...this.#settings, admin: { ...admin, follows: true } };
  }

  start(): void {
    this.#process.start();
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Starts it as far as it comes without the store, which the keeper of another gateway has. */
  prepare(): Promise<void> {
    return this.#process.prepare();
  }

  /** The store is free: the keeper opens it. */
  go(): void {
    this.#process.go();
  }

  /** The keeper of another gateway may listen where the admin API of this one does. */
  share(): void {
    this.#process.share();
  }

  /** Ends the keeper for that of another gateway, while workers run. {@link start} takes it back. */
  pass(): Promise<void> {
    return this.#process.stop("pass");
  }

  /** Kills a keeper that hangs. @param wasPaused the supervisor itself was paused, so that heartbeats may be late */
  check(wasPaused: boolean): void {
    this.#process.check(wasPaused);
  }

  async stop(): Promise<void> {
    await this.#process.stop();
    rmSync(this.socket, { force: true });
  }

  #countRestart(): void {
    const { admin } = this.#settings;
    if (admin) this.#settings = { ...this.#settings, admin: { ...admin, restarts: ++this.#restarts } };
  }
}
