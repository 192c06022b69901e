/** The batches that one worker runs. */
import type { KeptFiles } from "../../../core/kept-files.ts";
import type { WorkerHost } from "../../../gateway/seams.ts";
import type { BatchAnswer, Run } from "../messages.ts";
import type { batchesSection } from "../section.ts";
import { Pressure } from "./pressure.ts";
import { Runner, type RunnerOptions } from "./runner.ts";
import { Slots } from "./slots.ts";

/** Waits before a batch goes on that a fault has stopped: a full disk, a store that is away. Milliseconds. */
const PAUSES_MS = [1_000, 5_000, 15_000, 30_000] as const;

type Settings = ReturnType<typeof batchesSection.of>;

export interface RunningOptions extends Pick<RunnerOptions, "tell" | "leasedUntil"> {
  readonly host: WorkerHost;
  /** Asks the keeper for the number of another runner, behind a fault. */
  again(of: { readonly id: string; readonly fence: number }): Promise<BatchAnswer>;
  files(): KeptFiles | undefined;
}

export class Running {
  readonly #options: RunningOptions;
  readonly #slots: Slots;
  readonly #pressure = new Pressure();
  readonly #runners = new Map<string, Runner>();
  #settings: Settings;
  #isLeaving = false;

  constructor(settings: Settings, options: RunningOptions) {
    this.#options = options;
    this.#settings = settings;
    this.#slots = new Slots(settings.concurrency, (signal) =>
      this.#settings.yield ? this.#pressure.pass(signal) : Promise.resolve(),
    );
  }

  /** The batches with the numbers of their runners. */
  get own(): readonly { readonly id: string; readonly fence: number }[] {
    return [...this.#runners.values()].map(({ id, fence }) => ({ id, fence }));
  }

  configure(settings: Settings): void {
    this.#settings = settings;
    this.#slots.most = settings.concurrency;
  }

  begin(run: Run): void {
    const earlier = this.#runners.get(run.batch.id);
    earlier?.leave();
    void this.#run(run).catch((cause: unknown) => this.#options.host.fault(`batches: ${String(cause)}`));
  }

  cancel(id: string): void {
    this.#runners.get(id)?.cancel();
  }

  /** Another runner has the batch. */
  lose(id: string): void {
    this.#runners.get(id)?.leave();
    this.#runners.delete(id);
  }

  leave(): void {
    this.#isLeaving = true;
    for (const runner of this.#runners.values()) runner.leave();
  }

  async #run(run: Run): Promise<void> {
    this.#pressure.watch();
    for (let pause = 0; !this.#isLeaving; pause++) {
      const files = this.#options.files();
      const { host, tell, again, leasedUntil } = this.#options;
      if (!files) throw new Error("the gateway keeps no files, which batches need");
      const runner = new Runner({
        ...{ run, host, files, slots: this.#slots, settings: this.#settings, tell, leasedUntil },
      });
      this.#runners.set(run.batch.id, runner);
      try {
        await runner.run();
        break;
      } catch (cause) {
        const reason = sentence(cause);
        host.fault(`the batch ${run.batch.id} pauses: ${reason}`);
        await runner.pause(reason).catch(() => {});
        await Bun.sleep(PAUSES_MS[Math.min(pause, PAUSES_MS.length - 1)]!);
      }
      if (this.#runners.get(run.batch.id) !== runner) return;
      const next = await again({ id: runner.id, fence: runner.fence }).catch(() => undefined);
      if (next === undefined) continue;
      if (!("fence" in next)) break;
      run = { ...run, fence: next.fence, batch: runner.batch };
    }
    this.#runners.delete(run.batch.id);
    if (this.#runners.size === 0) this.#pressure.rest();
  }
}

function sentence(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
