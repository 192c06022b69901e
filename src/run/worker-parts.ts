/** The parts of features in a process that serves calls. */
import type { Recorder } from "../core/column.ts";
import type { Metric } from "../core/metric.ts";
import type { LivePart } from "../gateway/life.ts";
import type { NamedPart, WorkerHost, WorkerPart } from "../gateway/seams.ts";

export class WorkerParts {
  readonly #named: readonly NamedPart<WorkerHost, WorkerPart>[];
  readonly #hostOf: (name: string) => WorkerHost;
  readonly #declare: (metrics: readonly Metric[]) => void;
  /** Parts that have started; they last until the gateway stops. */
  readonly #started = new Map<string, WorkerPart>();
  readonly #recorders: Recorder[];

  /** @param declare gets the metrics of a part that is on @param recorders has those of the config that serves */
  constructor(
    named: readonly NamedPart<WorkerHost, WorkerPart>[],
    hostOf: (name: string) => WorkerHost,
    declare: (metrics: readonly Metric[]) => void = () => {},
    recorders: Recorder[] = [],
  ) {
    this.#named = named;
    this.#hostOf = hostOf;
    this.#declare = declare;
    this.#recorders = recorders;
  }

  /** The parts that are on for a config. Call this before the config serves. */
  async of(config: object): Promise<readonly LivePart[]> {
    const live: LivePart[] = [];
    for (const named of this.#named) {
      const part = this.#started.get(named.name) ?? (await this.#start(named));
      const seams = await part.seams(config);
      if (!seams) continue;
      if (named.metrics) this.#declare(named.metrics);
      live.push({ name: named.name, seams });
    }
    return live;
  }

  /** The config serves from now on. */
  serve(config: object): void {
    const parts = [...this.#started.values()];
    for (const part of parts) part.serves?.(config);
    this.#recorders.splice(0, Infinity, ...parts.flatMap((part) => part.recorder?.(config) ?? []));
  }

  /** What the parts add to the start table. */
  startLines(config: object): readonly string[] {
    return [...this.#started.values()].flatMap((part) => part.startLines?.(config) ?? []);
  }

  /** Resolves when they have ended what they do. */
  async stop(): Promise<void> {
    await Promise.all([...this.#started.values()].map((part) => part.stop?.()));
  }

  async #start({ name, load }: NamedPart<WorkerHost, WorkerPart>): Promise<WorkerPart> {
    const part = (await load()).start(this.#hostOf(name));
    this.#started.set(name, part);
    return part;
  }
}
