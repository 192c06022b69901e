/** Writes down what becomes of alerts. What the store does not have yet stays in memory. */
import type { WallClock } from "../../core/wall-clock.ts";
import type { KeeperHost } from "../../keeper/seams.ts";
import { type Delivery, giveUpFormer, writeDeliveries } from "./rows.ts";

/** Before rows are written again that the store did not take. Milliseconds. */
const AGAIN_MS = 5_000;
/** Rows that wait for the store; the oldest are lost. */
const MOST_WAITING = 200;

interface BookOptions {
  readonly write: KeeperHost["write"];
  readonly clock: WallClock;
  /** Name of this machine. */
  readonly node: string;
}

export class DeliveryBook {
  readonly #options: BookOptions;
  readonly #startedAt: number;
  readonly #waiting = new Map<string, Delivery>();
  #hasBegun = false;
  #writing: Promise<void> | undefined;
  #cancel: (() => void) | undefined;
  #isClosed = false;

  constructor(options: BookOptions) {
    this.#options = options;
    this.#startedAt = options.clock.wall();
    void this.#flush();
  }

  /** What the store does not have yet. */
  get unsaved(): readonly Delivery[] {
    return [...this.#waiting.values()];
  }

  note(delivery: Delivery): void {
    this.#waiting.set(`${delivery.id} ${delivery.webhook}`, delivery);
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size > MOST_WAITING) this.#waiting.delete(oldest!);
    void this.#flush();
  }

  /** Writes what waits, once. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel?.();
    this.#cancel = undefined;
    await this.#writing;
    await this.#flush();
  }

  #flush(): Promise<void> {
    if (this.#cancel) return Promise.resolve();
    return (this.#writing ??= this.#writeAll().finally(() => (this.#writing = undefined)));
  }

  async #writeAll(): Promise<void> {
    const { write, clock, node } = this.#options;
    try {
      while (!this.#hasBegun || this.#waiting.size > 0) {
        const rows = [...this.#waiting];
        await write(async (sql) => {
          if (!this.#hasBegun) await giveUpFormer(sql, node, this.#startedAt);
          if (rows.length > 0)
            await writeDeliveries(
              sql,
              rows.map(([, row]) => row),
            );
        });
        this.#hasBegun = true;
        for (const [key, row] of rows) if (this.#waiting.get(key) === row) this.#waiting.delete(key);
      }
    } catch {
      // The log says that the store cannot be written.
      if (this.#isClosed) return;
      this.#cancel = clock.after(AGAIN_MS, () => {
        this.#cancel = undefined;
        void this.#flush();
      });
    }
  }
}
