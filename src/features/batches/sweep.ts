/** Removes what is left of batches that ended long ago, and journals whose runner ended before it could remove them. */
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { KeeperHost } from "../../keeper/seams.ts";
import { forgetBooked } from "./booked.ts";
import { batchIdIn } from "./shapes/ids.ts";

const DAY_MS = 24 * 3_600_000;
/** A batch is no more, this long after its end: its results, which are kept for a month behind its window, are gone before. */
const KEPT_MS = 90 * DAY_MS;
/** The runner of a batch that has ended may still remove its journal. Milliseconds. */
const ENDING_MS = 3_600_000;
/** Rows of one transaction, and folders of one question. */
const SLICE = 100;
/** Between two of them, for the calls that wait for the books. Milliseconds. */
const PAUSE_MS = 20;

export interface SweepOptions {
  readonly host: Pick<KeeperHost, "read" | "write" | "report">;
  /** Folders with the journals of batches. */
  folders(): Iterable<string>;
  /** Milliseconds since 1970. */
  now(): number;
}

export class Sweep {
  readonly #options: SweepOptions;
  #running: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: SweepOptions) {
    this.#options = options;
  }

  /** One sweep; with one that runs, the same. */
  run(): Promise<void> {
    return (this.#running ??= this.#run().finally(() => (this.#running = undefined)));
  }

  /** Resolves when nothing runs any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    try {
      await this.#rows();
      for (const folder of this.#options.folders()) await this.#journals(folder);
    } catch (cause) {
      this.#options.host.report(
        `batches: what is old stays until the next look: ${(cause as Error).message}`,
      );
    }
  }

  async #rows(): Promise<void> {
    const { host, now } = this.#options;
    const before = now() - KEPT_MS;
    for (;;) {
      const old = await host.read((sql) =>
        sql.all<{ id: string }>(`SELECT id FROM batches WHERE ended < $1 LIMIT ${SLICE}`, [before]),
      );
      for (const { id } of old) {
        await host.write((sql) => sql.run("DELETE FROM batches WHERE id = $1", [id]));
        while ((await host.write((sql) => forgetBooked(sql, id, SLICE))) === SLICE) await this.#pause();
      }
      if (old.length < SLICE || this.#isClosed) return;
      await this.#pause();
    }
  }

  /** Of batches that have ended. What the store does not know stays: the folder may belong to several gateways. */
  async #journals(folder: string): Promise<void> {
    const ids = (await namesIn(folder)).filter((name) => batchIdIn(name) === name);
    for (let at = 0; at < ids.length && !this.#isClosed; at += SLICE) {
      const some = ids.slice(at, at + SLICE);
      const marks = some.map((_, index) => `$${index + 2}`).join(", ");
      const ended = await this.#options.host.read((sql) =>
        sql.all<{ id: string }>(`SELECT id FROM batches WHERE ended < $1 AND id IN (${marks})`, [
          this.#options.now() - ENDING_MS,
          ...some,
        ]),
      );
      for (const { id } of ended) await rm(join(folder, id), { recursive: true, force: true });
      await this.#pause();
    }
  }

  #pause(): Promise<void> {
    return Bun.sleep(this.#isClosed ? 0 : PAUSE_MS);
  }
}

/** A folder that there is not has none. */
async function namesIn(folder: string): Promise<string[]> {
  const isThere = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  return isThere ? readdir(folder) : [];
}
