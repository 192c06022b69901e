/** Deletes files that have expired, and what uploads that broke off have left. */
import type { KeeperHost } from "../../../keeper/seams.ts";
import type { FilesSettings } from "../messages.ts";
import { IN_STATE } from "../section.ts";
import type { Places } from "../store/places.ts";
import type { FileBook } from "./file-book.ts";
import type { UploadBook } from "./upload-book.ts";

/** What is younger may be written at the moment. Milliseconds. */
const LEFT_MS = 3_600_000;

/** Rows of one transaction, and names of one question. */
const SLICE = 200;

export interface SweepOptions {
  readonly host: Pick<KeeperHost, "read" | "report">;
  readonly files: FileBook;
  readonly uploads: UploadBook;
  readonly places: Places;
  readonly now: () => number;
}

export class Sweep {
  readonly #options: SweepOptions;
  #running: Promise<void> | undefined;

  constructor(options: SweepOptions) {
    this.#options = options;
  }

  /** One sweep; with one that runs, the same. */
  run(settings: FilesSettings | undefined): Promise<void> {
    return (this.#running ??= this.#run(settings).finally(() => (this.#running = undefined)));
  }

  /** Deletes bytes; what cannot be deleted now is a leftover. */
  async delete(objects: readonly { readonly id: string; readonly keptIn: string }[]): Promise<void> {
    for (const { id, keptIn } of objects)
      await this.#options.places
        .shop(keptIn)
        .then((shop) => shop.del(id))
        .catch((cause: Error) => this.#options.host.report(`files: ${id} stays: ${cause.message}`));
  }

  async #run(settings: FilesSettings | undefined): Promise<void> {
    const { files, uploads, host } = this.#options;
    try {
      for (const expired of [files, uploads])
        for (let full = true; full;) {
          const gone = await expired.expire(SLICE);
          await this.delete(gone);
          full = gone.length >= SLICE;
        }
      if (settings?.where === IN_STATE) await this.#leftovers();
    } catch (cause) {
      host.report(`files: what has expired stays until the next look: ${(cause as Error).message}`);
    }
  }

  /** Only of the state folder: another place may belong to several gateways. */
  async #leftovers(): Promise<void> {
    const shop = await this.#options.places.shop(IN_STATE);
    const before = this.#options.now() - LEFT_MS;
    let names: string[] = [];
    const clear = async () => {
      for (const name of await this.#unknown(names)) await shop.del(name);
      names = [];
    };
    for await (const { name, at } of shop.list()) {
      if (at < before) names.push(name);
      if (names.length >= SLICE) await clear();
    }
    await clear();
  }

  async #unknown(names: readonly string[]): Promise<string[]> {
    if (names.length === 0) return [];
    const list = names.map((_, index) => `$${index + 1}`).join(", ");
    const known = await this.#options.host.read((sql) =>
      sql.all<{ id: string }>(
        `SELECT id FROM files WHERE id IN (${list}) UNION ALL SELECT id FROM file_parts WHERE id IN (${list})`,
        names,
      ),
    );
    const ids = new Set(known.map(({ id }) => id));
    return names.filter((name) => !ids.has(name));
  }
}
