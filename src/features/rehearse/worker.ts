/** The part of a gateway that makes outlines of calls. Calls do not wait for it, and it takes a share of the time of its worker at most. */
import type { Channel } from "../../core/channel.ts";
import type { Attempt } from "../../core/call.ts";
import type { Recorder } from "../../core/column.ts";
import { usageState } from "../../core/events.ts";
import { Slot } from "../../core/slot.ts";
import type { Config } from "../../config/schema.ts";
import type { Entry, Seams, WorkerHost, WorkerPart } from "../../gateway/seams.ts";
import { stateHome } from "../../run/home.ts";
import type { OutlinesUp } from "./keep/messages.ts";
import { outlines } from "./metrics.ts";
import { OutlineMaker, randomSecret } from "./outline/outline.ts";
import { rehearseSection } from "./section.ts";

/** Lines that go to the keeper at once. Bytes. */
const BATCH = 65_536;
/** Lines that wait for the keeper at most. Bytes. */
const MOST = 4_194_304;
const EACH_MS = 1_000;
/** Time for outlines that a silent worker has saved up. Milliseconds. */
const BURST_MS = 250;

/** Time for outlines before calls get their turn again. Milliseconds. */
const AT_ONCE_MS = 1;

/** What is known of a call that gets an outline: either part may be known first. */
interface Part {
  /** JSON without its end. */
  text?: string;
  end?: string;
}

const parts = new Slot<Part>();

export const start = (host: WorkerHost): WorkerPart => new RehearseWorker(host);

class RehearseWorker implements WorkerPart {
  readonly #host: WorkerHost;
  readonly #channel: Channel<OutlinesUp, never>;
  /** A name has the same letters in all outlines of this process. */
  readonly #secret = crypto.getRandomValues(new BigUint64Array(1))[0]!;
  /** The code for outlines, which a gateway without them does not load. */
  #made: typeof import("./outline/outline.ts") | undefined;
  #maker: OutlineMaker | undefined;
  #names: readonly string[] = [];
  #limits = { share: 0, days: 0, fileBytes: 0 };
  #queue: Entry[] = [];
  #lines: string[] = [];
  #bytes = 0;
  #timer: Timer | undefined;
  /** Calls without time for an outline that are not counted yet. */
  #busy = 0;
  /** Milliseconds that outlines may take now, and when that was. */
  #left = BURST_MS;
  #at = performance.now();

  constructor(host: WorkerHost) {
    this.#host = host;
    this.#channel = host.channel();
    this.#channel.listen({ up: () => this.#send(), down: () => {}, message: () => {} });
  }

  async seams(config: object): Promise<Seams | undefined> {
    const settings = rehearseSection.of(config);
    if (!isOn(settings.outlines, config as Config)) return undefined;
    this.#limits = settings;
    this.#names = namesIn(config);
    this.#maker = undefined;
    this.#made ??= await import("./outline/outline.ts");
    return {
      looks: { at: "outline", run: (entering) => this.#take(entering) },
    };
  }

  recorder(config: object): Recorder | undefined {
    if (!isOn(rehearseSection.of(config).outlines, config as Config)) return undefined;
    return (call, attempts) => {
      const part = parts.get(call);
      if (!part) return;
      part.end = endOf(attempts.at(-1));
      this.#add(part);
    };
  }

  stop(): void {
    this.#send();
  }

  /** Its outline is made after the request went on its way. A call that finds no time left has none. */
  #take(entering: () => Entry): void {
    const now = performance.now();
    this.#left = Math.min(BURST_MS, this.#left + (now - this.#at) * this.#limits.share);
    this.#at = now;
    if (this.#left <= 0) {
      // At the rate of a busy worker, a look-up of the metric for each call would cost as much as an outline for some.
      this.#busy++;
      this.#timer ??= setTimeout(() => this.#send(), EACH_MS);
      return;
    }
    const entry = entering();
    // What a plugin asks is no call of a client.
    if (!entry.arrival) return;
    parts.set(entry.call, {});
    if (this.#queue.push(entry) === 1) setImmediate(this.#work);
  }

  readonly #work = (): void => {
    // The first one compiles the words of the formats, once for a config.
    const { registry } = this.#queue[0]!;
    this.#maker ??= new this.#made!.OutlineMaker(registry.formats.values(), this.#secret, this.#names);
    const began = performance.now();
    let now = began;
    let done = 0;
    while (done < this.#queue.length && now - began < AT_ONCE_MS) {
      this.#outline(this.#queue[done++]!);
      now = performance.now();
    }
    this.#left -= now - began;
    this.#queue.splice(0, done);
    if (this.#queue.length > 0) setImmediate(this.#work);
  };

  #outline(entry: Entry): void {
    try {
      const { operation, call } = entry;
      const part = parts.get(call)!;
      part.text = JSON.stringify(this.#maker!.of(entry, operation)).slice(0, -1);
      this.#add(part);
    } catch {
      this.#count("unread");
    }
  }

  /** Adds an outline whose call has ended. */
  #add({ text, end }: Part): void {
    if (text === undefined || end === undefined) return;
    const line = `${text}${end}}\n`;
    if (this.#bytes > MOST) return this.#count("lost");
    this.#lines.push(line);
    this.#bytes += line.length;
    this.#count("kept");
    if (this.#bytes > BATCH) this.#send();
    else this.#timer ??= setTimeout(() => this.#send(), EACH_MS);
  }

  #send(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#busy > 0) this.#host.meter.add(outlines, ["busy"], this.#busy);
    this.#busy = 0;
    if (!this.#channel.isUp || this.#lines.length === 0) return;
    const { days, fileBytes } = this.#limits;
    this.#channel.send({ text: this.#lines.join(""), days, fileBytes });
    this.#lines = [];
    this.#bytes = 0;
  }

  #count(outcome: string): void {
    this.#host.meter.add(outlines, [outcome], 1);
  }
}

/** The names of what a config has: headers of clients name guards, tools and sets of them. */
function namesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(namesIn);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, one]) => [name, ...namesIn(one)]);
}

/** What is known at the end of a call: who answered, and what it counted. */
function endOf(attempt: Attempt | undefined): string {
  if (!attempt) return "";
  const { usage, target } = attempt;
  const by = `,"by":${JSON.stringify(target.provider.name)}`;
  return usageState(usage) === "absent" ? by : `${by},"usage":${JSON.stringify(usage)}`;
}

function isOn(outlines: "auto" | "on" | "off", config: Config): boolean {
  if (outlines !== "auto") return outlines === "on";
  const home = stateHome(config, process.env);
  return home.kind === "folder" && home.named;
}
