/** The processes of features from the side of their owner: the supervisor, or the gateway if it is one process. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { SERVICE_FLAG } from "../process/program.ts";
import type { StateHome } from "../run/home.ts";
import type { ServiceOwner } from "../run/running-weir.ts";
import { killGroup } from "../service/groups.ts";
import { SERVICE_SETTINGS, type ServiceSettings } from "../service/messages.ts";
import { KeptProcess } from "./kept-process.ts";
import { watchPauses } from "./pauses.ts";
import { socketPath } from "./socket-path.ts";
import type { OtherMessage } from "./worker-process.ts";

/** Longer than the process gives its part. Milliseconds. */
const STOP_MS = 7_000;

export interface ServicesOptions {
  home: StateHome;
  env: Readonly<Record<string, string | undefined>>;
  fault(text: string): void;
  info(text: string): void;
}

/** Starts each process with the first ask for it, restarts it, and ends it and what it started. */
export class Services implements ServiceOwner {
  readonly #options: ServicesOptions;
  readonly #running = new Map<string, Service>();
  #unwatch: (() => void) | undefined;

  constructor(options: ServicesOptions) {
    this.#options = options;
  }

  /** @returns path of its socket @throws Error with one sentence when there is no folder for it */
  async start(name: string): Promise<string> {
    const known = this.#running.get(name);
    if (known) return known.path;
    const service = new Service(name, this.#options);
    this.#running.set(name, service);
    this.#unwatch ??= watchPauses((wasPaused) => {
      for (const each of this.#running.values()) each.process.check(wasPaused);
    });
    service.process.start();
    return service.path;
  }

  async stop(): Promise<void> {
    this.#unwatch?.();
    await Promise.all(Array.from(this.#running.values(), (service) => service.stop()));
  }
}

class Service {
  readonly path: string;
  readonly process: KeptProcess;
  /** Process groups that it has started. */
  readonly #groups = new Set<number>();

  constructor(name: string, options: ServicesOptions) {
    const { home, env, fault } = options;
    const path = (this.path = socketPath(`service-${name}`, home, env));
    const settings: ServiceSettings = home.kind === "folder" ? { folder: join(home.folder, name) } : {};
    this.process = new KeptProcess({
      ...{ name: `the process of ${name}`, stopMs: STOP_MS, report: fault },
      program: () => ({
        args: [SERVICE_FLAG, name, path],
        env: { [SERVICE_SETTINGS]: JSON.stringify(settings) },
      }),
      onMessage: (message) => this.#take(message, options),
      onEnd: () => this.#killGroups(),
    });
  }

  async stop(): Promise<void> {
    await this.process.stop();
    rmSync(this.path, { force: true });
  }

  #take(message: OtherMessage, options: ServicesOptions): void {
    if (message.kind === "log") options[message.level](message.text);
    if (message.kind !== "group") return;
    if (message.runs) this.#groups.add(message.id);
    else this.#groups.delete(message.id);
  }

  /** A process that was killed could not end what it had started. */
  #killGroups(): void {
    for (const id of this.#groups) killGroup(id);
    this.#groups.clear();
  }
}
