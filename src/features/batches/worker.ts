/** The part of a gateway that makes and runs batches. The code that does it is loaded with the first request or batch. */
import { GatewayError } from "../../core/error.ts";
import { fileForms } from "../../core/file-forms.ts";
import { type KeptFiles, keptFiles } from "../../core/kept-files.ts";
import type { Channel } from "../../core/channel.ts";
import type { Recorder } from "../../core/column.ts";
import type { OwnRoute, Seams, WorkerHost, WorkerPart } from "../../gateway/seams.ts";
import { bytesIn } from "../../config/sections/amounts.ts";
import type { Foresee } from "./admission.ts";
import type { Asks } from "./asks.ts";
import type { Batch } from "./batch.ts";
import { batchId, onBooked } from "./columns.ts";
import { ROUTES } from "./declarations.ts";
import type { BatchAnswer, BatchAsk, BatchesDown, BatchesUp } from "./messages.ts";
import { batchLosses } from "./metrics.ts";
import type { Batches } from "./routes/create.ts";
import type { Losses } from "./routes/losses.ts";
import type { Running } from "./run/running.ts";
import { Traffic } from "./run/traffic.ts";
import { batchesSection, tokensOf, type Webhook, webhookOf } from "./section.ts";
import type { Dialect } from "./shapes/ids.ts";

/** How often the leases of runners are renewed, which last 10 s. */
const RENEW_MS = 3_000;

export const start = (host: WorkerHost): WorkerPart => new BatchesWorker(host);

class BatchesWorker implements WorkerPart {
  readonly #host: WorkerHost;
  readonly #channel: Channel<BatchesUp, BatchesDown>;
  readonly #traffic = new Traffic();
  #asks: Asks | undefined;
  #running: Promise<Running> | undefined;
  #isOn = false;
  #isLeaving = false;
  /** The keeper knows that this worker runs batches. */
  #isKnown = false;
  #config: object = {};
  /** Absent before it serves; null: none. */
  #webhook: Webhook | null | undefined;
  #renewing: ReturnType<typeof setInterval> | undefined;

  constructor(host: WorkerHost) {
    this.#host = host;
    this.#channel = host.channel();
    this.#channel.listen({
      up: () => {
        this.#tellWebhook();
        void this.#ready();
      },
      down: () => this.#asks?.lost(),
      message: (message) => this.#receive(message),
    });
  }

  seams(config: object): Seams | undefined {
    const settings = batchesSection.of(config);
    const { on, share, window } = settings;
    if (!on) return undefined;
    const { bytes, queuedTokens } = settings.limits;
    const limits = { ...settings.limits, bytes: bytesIn(bytes), queuedTokens: tokensOf(queuedTokens) };
    const files = () => this.#files();
    const foresee: Foresee = async (batch, principal) => {
      const admission = await import("./admission.ts");
      return admission.foresee(batch, principal, files(), this.#host, settings);
    };
    const asks = { ask: (ask: BatchAsk) => this.#ask(ask) };
    const lose = (...losses: Parameters<Batches["lose"]>) => this.#lose(...losses);
    const routes = ROUTES.map((route): OwnRoute => {
      const { method, path, id, summary } = route;
      return {
        ...{ method, path, id, summary, isShared: true },
        async handle(request, visit) {
          const { answer } = await import("./routes/routes.ts");
          return answer(route, { asks, files, share, window, limits, foresee, lose }, request, visit);
        },
      };
    });
    return { routes };
  }

  #files(): KeptFiles {
    const found = keptFiles.get(this.#host.offers);
    if (found) return found;
    throw new GatewayError("invalid-request", "The gateway keeps no files, which batches need.");
  }

  /** Results in the form of whose API downloads them. */
  #offerForms(): void {
    const batches: Pick<Batches, "asks" | "files" | "lose"> = {
      asks: { ask: (ask) => this.#ask(ask) },
      files: () => this.#files(),
      lose: (...losses) => this.#lose(...losses),
    };
    fileForms.set(this.#host.offers, {
      formOf: async (file, reader, url) =>
        this.#isOn ? (await import("./routes/file-form.ts")).formOf(batches, file, reader, url) : undefined,
    });
  }

  /** The batch has the losses of the last time that it was read, as a client may read it often. */
  #lose({ id, losses: known }: Batch, reader: Dialect, { counts, sum }: Losses): void {
    for (const [code, count] of counts) this.#host.meter.add(batchLosses, [code], count);
    // The answer has been read, and does not depend on the keeper.
    if (sum !== (known?.[reader] ?? 0)) void this.#ask({ lost: { id, reader, sum } }).catch(() => {});
  }

  async #ask(ask: BatchAsk): Promise<BatchAnswer> {
    const { Asks } = await import("./asks.ts");
    this.#asks ??= new Asks(this.#channel);
    return this.#asks.ask(ask);
  }

  serves(config: object): void {
    this.#config = config;
    this.#isOn = batchesSection.of(config).on;
    if (this.#isOn && !fileForms.get(this.#host.offers)) this.#offerForms();
    void this.#running?.then((running) => running.configure(batchesSection.of(config)));
    this.#webhook = webhookOf(config) ?? null;
    this.#tellWebhook();
    void this.#ready();
  }

  /** Before runners tell the ends of batches. */
  #tellWebhook(): void {
    if (this.#channel.isUp && this.#webhook !== undefined) this.#channel.send({ webhook: this.#webhook });
  }

  startLines(config: object): readonly string[] {
    const webhook = webhookOf(config);
    return webhook ? [`batches: their ends to ${new URL(webhook.url).origin}`] : [];
  }

  recorder(): Recorder {
    const { ledger } = this.#host;
    return (call, attempts) => {
      onBooked.get(call)?.(ledger.charged?.(attempts) ?? 0);
      this.#traffic.ended(attempts, batchId.get(call) === undefined);
    };
  }

  /** Resolves when the lines that ran have ended. */
  async stop(): Promise<void> {
    this.#isLeaving = true;
    await this.#ready();
    await (await this.#running)?.leave();
    clearInterval(this.#renewing);
  }

  /** Tells the keeper of this worker and its runners, which renews their leases. */
  async #ready(): Promise<void> {
    const isFull = !this.#isOn || this.#isLeaving;
    if (!this.#channel.isUp || (isFull && !this.#isKnown)) return;
    this.#isKnown = true;
    const { folder } = batchesSection.of(this.#config);
    const ready = (await this.#running)?.own ?? [];
    if (!this.#channel.isUp) return;
    this.#channel.send({ ready, ...(folder !== undefined && { folder }), ...(isFull && { isFull }) });
  }

  #receive(message: BatchesDown): void {
    if ("number" in message) this.#asks?.received(message.number, message.answer);
    else if ("run" in message) {
      this.#renewing ??= setInterval(() => void this.#ready(), RENEW_MS);
      void this.#loaded().then((running) => running.begin(message.run));
    } else void this.#running?.then((running) => told(running, message));
  }

  #loaded(): Promise<Running> {
    return (this.#running ??= import("./run/running.ts").then(
      ({ Running }) =>
        new Running(batchesSection.of(this.#config), {
          host: this.#host,
          traffic: this.#traffic,
          files: () => keptFiles.get(this.#host.offers),
          tell: (progress) => this.#ask({ progress }),
          reserve: (reserve) => this.#ask({ reserve }),
          booked: (id) => this.#ask({ booked: { id } }),
          again: (again) => this.#ask({ again }),
          gone: (gone) => this.#channel.isUp && this.#channel.send({ gone }),
        }),
    ));
  }
}

function told(
  running: Running,
  message: Extract<BatchesDown, { stop: unknown } | { lost: unknown } | { held: unknown }>,
) {
  if ("stop" in message) running.cancel(message.stop);
  else if ("lost" in message) running.lose(message.lost);
  else running.hold(message.held, message.until);
}
