/** The part of a gateway that makes and runs batches. The code that does it is loaded with the first request or batch. */
import { GatewayError } from "../../core/error.ts";
import { keptFiles } from "../../core/kept-files.ts";
import type { Channel } from "../../core/channel.ts";
import type { Seams, WorkerHost, WorkerPart } from "../../gateway/seams.ts";
import { Asks } from "./asks.ts";
import { onBooked } from "./columns.ts";
import type { BatchesDown, BatchesUp } from "./messages.ts";
import { batchRoutes } from "./routes/routes.ts";
import type { Running } from "./run/running.ts";
import { batchesSection } from "./section.ts";

export const start = (host: WorkerHost): WorkerPart => new BatchesWorker(host);

class BatchesWorker implements WorkerPart {
  readonly #host: WorkerHost;
  readonly #channel: Channel<BatchesUp, BatchesDown>;
  readonly #asks: Asks;
  #running: Promise<Running> | undefined;
  #isOn = false;
  #config: object = {};
  /** Milliseconds since 1970. */
  #leasedUntil = 0;

  constructor(host: WorkerHost) {
    this.#host = host;
    this.#channel = host.channel();
    this.#asks = new Asks(this.#channel);
    this.#channel.listen({
      up: () => void this.#ready(),
      down: () => this.#asks.lost(),
      message: (message) => this.#receive(message),
    });
  }

  seams(config: object): Seams | undefined {
    const { on, share, window, perKey, lines } = batchesSection.of(config);
    if (!on) return undefined;
    const { host, asks } = { host: this.#host, asks: this.#asks };
    const files = () => {
      const found = keptFiles.get(host.offers);
      if (found) return found;
      throw new GatewayError("invalid-request", "The gateway keeps no files, which batches need.");
    };
    return { routes: batchRoutes({ asks, files, share, window, perKey, lines }) };
  }

  serves(config: object): void {
    this.#config = config;
    this.#isOn = batchesSection.of(config).on;
    void this.#running?.then((running) => running.configure(batchesSection.of(config)));
    void this.#ready();
  }

  recorder() {
    const { ledger } = this.#host;
    return (...[call, attempts]: Parameters<NonNullable<ReturnType<NonNullable<WorkerPart["recorder"]>>>>) =>
      onBooked.get(call)?.(ledger.charged?.(attempts) ?? 0);
  }

  stop(): void {
    if (this.#channel.isUp) this.#channel.send({ leaves: true });
    void this.#running?.then((running) => running.leave());
  }

  async #ready(): Promise<void> {
    if (!this.#channel.isUp || !this.#isOn) return;
    const { folder } = batchesSection.of(this.#config);
    const ready = (await this.#running)?.own ?? [];
    this.#channel.send({ ready, ...(folder !== undefined && { folder }) });
  }

  #receive(message: BatchesDown): void {
    if ("number" in message) this.#asks.received(message.number, message.answer);
    else if ("until" in message) this.#leasedUntil = message.until;
    else if ("run" in message) {
      this.#leasedUntil = Math.max(this.#leasedUntil, message.run.until);
      void this.#loaded().then((running) => running.begin(message.run));
    } else
      void this.#running?.then((running) =>
        "stop" in message ? running.cancel(message.stop) : running.lose(message.lost),
      );
  }

  #loaded(): Promise<Running> {
    return (this.#running ??= import("./run/running.ts").then(
      ({ Running }) =>
        new Running(batchesSection.of(this.#config), {
          host: this.#host,
          files: () => keptFiles.get(this.#host.offers),
          tell: (progress) => this.#asks.ask({ progress }),
          again: (again) => this.#asks.ask({ again }),
          leasedUntil: () => this.#leasedUntil,
        }),
    ));
  }
}
