/** The part of tools in each process that serves calls. Its code is loaded when a config first has a server. */
import { cors } from "../../config/sections/listening.ts";
import type { Recorder } from "../../core/column.ts";
import type { Seams, WorkerHost, WorkerPart } from "../../gateway/seams.ts";
import type { CostPart } from "./cost/part.ts";
import type { Front } from "./front/front.ts";
import { sealKeysOf } from "../../config/sections/store.ts";
import { type ToolsConfig, toolsOf } from "./section.ts";

export const start = (host: WorkerHost): WorkerPart => new Tools(host);

class Tools implements WorkerPart {
  readonly #host: WorkerHost;
  #front: Front | undefined;
  /** Loaded with the first config that wants costs of tools. */
  #cost: CostPart | undefined;

  constructor(host: WorkerHost) {
    this.#host = host;
  }

  async seams(config: object): Promise<Seams | undefined> {
    const options = toolsOf(config);
    const seams = await this.#serving(config, options);
    if (options.cost !== true) return seams;
    this.#cost ??= new (await import("./cost/part.ts")).CostPart();
    return this.#cost.around(seams);
  }

  recorder(config: object): Recorder | undefined {
    return toolsOf(config).cost === true ? this.#cost?.recorder : undefined;
  }

  async #serving(config: object, options: ToolsConfig): Promise<Seams | undefined> {
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
