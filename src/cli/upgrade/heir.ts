/** The bond of a gateway with the one that it follows, from its own side. */
import { renameSync, rmSync, symlinkSync } from "node:fs";
import type { Config } from "../../config/schema.ts";
import { keeperSettings, type StateHome } from "../../run/home.ts";
import { type Estate, type FromHeir, HEIR, type ToHeir } from "./messages.ts";

type Environment = Record<string, string | undefined>;

/** Maximum time for the first message. Milliseconds. */
const MEET_MS = 10_000;

type Step = Exclude<ToHeir["kind"], "estate">;
type Steps = Readonly<Record<Step, PromiseWithResolvers<void>>>;

export class Heir {
  readonly estate: Estate;
  readonly #steps: Steps;

  private constructor(estate: Estate, steps: Steps) {
    this.estate = estate;
    this.#steps = steps;
  }

  /** @returns undefined in a gateway that follows none @throws Error with one sentence */
  static async meet(env: Environment): Promise<Heir | undefined> {
    if (env[HEIR] === undefined) return undefined;
    delete env[HEIR];
    const met = Promise.withResolvers<Estate>();
    const steps = {
      keeper: Promise.withResolvers<void>(),
      released: Promise.withResolvers<void>(),
      closing: Promise.withResolvers<void>(),
      closed: Promise.withResolvers<void>(),
    };
    steps.keeper.promise.catch(() => {});
    const lost = new Error("the gateway that this one follows has ended");
    process.on("message", (message: ToHeir) => {
      if (message.kind === "estate") met.resolve(message.estate);
      else steps[message.kind]?.resolve();
    });
    process.on("disconnect", () => {
      met.reject(lost);
      steps.keeper.reject(lost);
      // It cannot come back: what it had is free.
      for (const { resolve } of [steps.released, steps.closing, steps.closed]) resolve();
    });
    const timer = setTimeout(() => met.reject(lost), MEET_MS);
    const estate = await met.promise.finally(() => clearTimeout(timer));
    return new Heir(estate, steps);
  }

  /**
   * Whether this gateway can follow the other one with its config.
   * @param wanted the state folder of the config
   * @returns the state folder
   * @throws Error with one sentence for a change that a running gateway cannot make
   */
  homeFor(config: Config, wanted: StateHome): StateHome {
    const { host, port, home, store } = this.estate;
    const refuse = (what: string, before: string, after: string) => {
      throw new Error(
        `${what} would change from ${before} to ${after}, which an upgrade cannot do; stop the gateway and start it again`,
      );
    };
    if (config.listen.unix !== undefined) refuse("the address", `port ${port}`, config.listen.unix);
    if (config.host !== host) refuse("the host", host, config.host);
    if (config.port !== 0 && config.port !== port) refuse("the port", String(port), String(config.port));
    // A gateway whose default folder another one had keeps its books in memory.
    const isSame =
      home.kind === "folder" ? wanted.kind === "folder" && wanted.folder === home.folder : !isNamed(wanted);
    if (!isSame) refuse("the state folder", placeOf(home), placeOf(wanted));
    if (storeOf(home, config) !== store)
      throw new Error("the store would change, which an upgrade cannot do");
    return home;
  }

  /** Workers of the gateways before find the keeper of this one. @param socket path of its socket */
  takeSockets(socket: string): void {
    for (const path of this.estate.sockets) {
      const fresh = `${path}.${process.pid}`;
      rmSync(fresh, { force: true });
      symlinkSync(socket, fresh);
      renameSync(fresh, path);
    }
  }

  /** @returns when the keeper of the gateway before has ended @throws Error with one sentence */
  prepared(): Promise<void> {
    this.#send({ kind: "prepared" });
    return this.#steps.keeper.promise;
  }

  /** This gateway has the store. @param pid process id of its keeper */
  hasStore(pid: number): void {
    this.#send({ kind: "keeper", pid });
  }

  /** @returns when the locks are free */
  serves(): Promise<void> {
    this.#send({ kind: "serving" });
    return this.#steps.released.promise;
  }

  /** The workers of the gateway before are about to close their listeners. */
  get closing(): Promise<void> {
    return this.#steps.closing.promise;
  }

  /** No worker of the gateway before listens any more. */
  get closed(): Promise<void> {
    return this.#steps.closed.promise;
  }

  alone(): void {
    this.#send({ kind: "alone" });
  }

  fail(message: string): void {
    this.#send({ kind: "failed", message });
  }

  #send(message: FromHeir): void {
    if (process.connected) process.send?.(message);
  }
}

/** SHA-256 of the path or URL of the store, which may have a password. */
export function storeOf(home: StateHome, config: Config): string {
  const url = keeperSettings(home, config).books?.url ?? "";
  return new Bun.CryptoHasher("sha256").update(url).digest("hex");
}

function isNamed(home: StateHome): boolean {
  return home.kind === "folder" && home.named;
}

function placeOf(home: StateHome): string {
  return home.kind === "folder" ? home.folder : "memory";
}
