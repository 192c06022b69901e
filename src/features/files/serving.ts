/** What serves files in a worker, once one was asked for. */
import type { Channel } from "../../core/channel.ts";
import { fileForms } from "../../core/file-forms.ts";
import type { Visit, WorkerHost } from "../../gateway/seams.ts";
import { Asks } from "./asks.ts";
import type { DeclaredRoute } from "./declarations.ts";
import type { FilesDown, FilesUp } from "./messages.ts";
import { serve } from "./serve/serve.ts";
import { type FileLimits, limitsOf } from "./settings.ts";
import { Vault } from "./vault.ts";

export class Serving {
  readonly vault: Vault;
  readonly #asks: Asks;
  readonly #offers: WorkerHost["offers"];
  #limits: FileLimits;

  /** @param config that serves now */
  constructor(
    channel: Channel<FilesUp, FilesDown>,
    { fault, offers }: Pick<WorkerHost, "fault" | "offers">,
    config: object,
  ) {
    this.#offers = offers;
    this.#asks = new Asks(channel);
    this.#limits = limitsOf(config);
    this.vault = new Vault({ asks: this.#asks, limits: () => this.#limits, fault });
  }

  configure(config: object): void {
    this.#limits = limitsOf(config);
  }

  received(message: FilesDown): void {
    this.#asks.received(message);
  }

  /** The keeper is there. */
  came(): void {
    this.#asks.came();
  }

  /** The keeper is gone. */
  lost(): void {
    this.#asks.lost();
  }

  serve(route: DeclaredRoute, request: Request, visit: Visit, config: object): Promise<Response> {
    const forms = fileForms.get(this.#offers);
    return serve(route, request, visit, {
      ...{ vault: this.vault, limits: limitsOf(config) },
      ...(forms && { forms }),
    });
  }
}
