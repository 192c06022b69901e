/** The part of tools in each process that serves calls. Its code is loaded when a config first has a server. */
import { cors } from "../../config/sections/listening.ts";
import type { Seams, WorkerHost, WorkerPart } from "../../gateway/seams.ts";
import type { Front } from "./front/front.ts";
import { sealKeysOf } from "../../config/sections/store.ts";
import { toolsOf } from "./section.ts";

export const start = (host: WorkerHost): WorkerPart => new Tools(host);

class Tools implements WorkerPart {
  readonly #host: WorkerHost;
  #front: Front | undefined;

  constructor(host: WorkerHost) {
    this.#host = host;
  }

  async seams(config: object): Promise<Seams | undefined> {
    const options = toolsOf(config);
    if (Object.keys(options.servers).length === 0) return undefined;
    if (!this.#front) {
      const { Front } = await import("./front/front.ts");
      this.#front = new Front(this.#host, options, sealKeysOf(config));
    }
    return this.#front.seams(options, cors.of(config).origins);
  }

  /** Also a config without servers: their sessions and programs end. */
  serves(config: object): void {
    this.#front?.serves(toolsOf(config), sealKeysOf(config));
  }
}
