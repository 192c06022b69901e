/** The part of a gateway that captures calls. The code that records is loaded when the first call is to be captured. */
import type { Channel } from "../../core/channel.ts";
import type { Around, Seams, WorkerHost, WorkerPart } from "../../gateway/seams.ts";
import { aroundTape } from "../../gateway/tape.ts";
import type { CaptureDown, CaptureUp } from "./captured.ts";
import type { LiveDown } from "./live/messages.ts";
import type { WatchedCalls } from "./live/watched-calls.ts";
import type { CaptureOutbox } from "./outbox.ts";
import type { CaptureSettings } from "./recording.ts";
import { isCaptured } from "./rules.ts";
import { type RuleRow, RunRules } from "./run-rules.ts";
import { capturesAny, captureSection } from "./section.ts";
import { RULES_TABLE } from "./tables.ts";

export const start = (host: WorkerHost): WorkerPart => new CaptureWorker(host);

class CaptureWorker implements WorkerPart {
  readonly #host: WorkerHost;
  readonly #channel: Channel<CaptureUp, CaptureDown>;
  readonly #rules: RunRules;
  /** What waits for the keeper survives a reload. */
  #outbox: CaptureOutbox | undefined;
  #onDemand = false;
  #patterns: readonly RegExp[] = [];
  #live: WatchedCalls | undefined;
  #loading: Promise<WatchedCalls> | undefined;

  constructor(host: WorkerHost) {
    this.#host = host;
    this.#rules = new RunRules(host.replica<RuleRow>(RULES_TABLE));
    this.#channel = host.channel();
    this.#channel.listen({
      up: () => {
        this.#tell();
        this.#outbox?.send();
      },
      down: () => this.#live?.clear(),
      message: (message) => void this.#watch(message),
    });
  }

  async seams(config: object): Promise<Seams | undefined> {
    const settings = captureSection.of(config);
    const isAlways = capturesAny(settings);
    if (!isAlways && !settings.onDemand) return undefined;
    const rules = settings.onDemand ? this.#rules : undefined;
    let loaded: Around | undefined;
    const load = async () => (loaded ??= await this.#load(settings, rules));
    if (isAlways) await load();
    const run: Around = async (entry, next) => (loaded ?? (await load()))(entry, next);
    return {
      around: { at: "capture", run, ...(!isAlways && { isOn: () => rules?.isAny === true }) },
    };
  }

  serves(config: object): void {
    const { onDemand, mask } = captureSection.of(config);
    this.#onDemand = onDemand;
    this.#patterns = mask.map((pattern) => new RegExp(pattern, "g"));
    this.#tell();
  }

  stop(): void {
    this.#rules.stop();
    this.#live?.clear();
  }

  /** Somebody watches a running call, or no longer. The code for it is loaded with the first one. */
  async #watch(message: LiveDown): Promise<void> {
    const live = this.#live ?? (await (this.#loading ??= this.#loadLive()));
    live.receive(message);
  }

  async #loadLive(): Promise<WatchedCalls> {
    const [{ WatchedCalls }, { builtInFormats }] = await Promise.all([
      import("./live/watched-calls.ts"),
      import("../../run/formats.ts"),
    ]);
    const list = builtInFormats({ systemTurns: "accept" });
    return (this.#live = new WatchedCalls({
      host: this.#host,
      patterns: () => this.#patterns,
      send: (message) => this.#channel.isUp && this.#channel.send(message),
      formats: new Map(list.map((format) => [format.id, format])),
    }));
  }

  #tell(): void {
    if (this.#channel.isUp) this.#channel.send({ onDemand: this.#onDemand });
  }

  async #load(settings: CaptureSettings, rules: RunRules | undefined): Promise<Around> {
    const [{ Capture }, { CaptureOutbox }] = await Promise.all([
      import("./recording.ts"),
      import("./outbox.ts"),
    ]);
    const { hide, fault } = this.#host;
    const outbox = (this.#outbox ??= new CaptureOutbox(this.#channel, fault));
    const capture = new Capture(settings, { hide, fault, outbox });
    const record = aroundTape(capture);
    return (entry, next) => {
      const isWanted = rules?.matches(entry) === true;
      if (isWanted) capture.want(entry.call);
      return isWanted || isCaptured(entry.call, settings) ? record(entry, next) : next();
    };
  }
}
