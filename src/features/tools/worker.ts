/** The part of tools in each process that serves calls. */
import { cors } from "../../config/sections/listening.ts";
import type { Lines } from "../../core/lines.ts";
import { Secret } from "../../core/secret.ts";
import type { Seams, WorkerHost, WorkerPart } from "../../gateway/seams.ts";
import { VERSION } from "../../process/version.ts";
import type { Ask, Introduction, Piece } from "./asks.ts";
import { type ToolsConfig, toolsOf } from "./section.ts";

export const start = (host: WorkerHost): WorkerPart => new Tools(host);

const NONE: ToolsConfig = { servers: {}, bodyBytes: 0 };

class Tools implements WorkerPart {
  readonly #host: WorkerHost;
  #lines: Lines<Ask, Piece> | undefined;
  #options: ToolsConfig | undefined;

  constructor(host: WorkerHost) {
    this.#host = host;
  }

  async seams(config: object): Promise<Seams | undefined> {
    const options = toolsOf(config);
    if (Object.keys(options.servers).length === 0 && !this.#lines) return undefined;
    const { frontFor } = await import("./front/front.ts");
    this.#lines ??= this.#host.service<Ask, Piece>(() => this.#introduction());
    return { routes: frontFor(this.#host, this.#lines, options, cors.of(config).origins) };
  }

  serves(config: object): void {
    this.#options = toolsOf(config);
    this.#lines?.introduce();
  }

  #introduction(): Introduction {
    return { options: revealed(this.#options ?? NONE), version: VERSION };
  }
}

/** The options as the process needs them: secrets as texts. */
function revealed<Value>(value: Value): Value {
  if (value instanceof Secret) return value.reveal() as Value;
  if (Array.isArray(value)) return value.map(revealed) as Value;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, revealed(one)])) as Value;
}
