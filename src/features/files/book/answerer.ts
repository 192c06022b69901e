/** Answers what workers ask, and deletes what has expired. */
import { GatewayError } from "../../../core/error.ts";
import type { KeeperHost } from "../../../keeper/seams.ts";
import type { FilesAnswer, FilesAsk, FilesSettings } from "../messages.ts";
import { Places } from "../store/places.ts";
import { FileBook } from "./file-book.ts";
import { Sweep } from "./sweep.ts";
import { UploadBook } from "./upload-book.ts";

export class Answerer {
  readonly #host: KeeperHost;
  readonly files: FileBook;
  readonly #uploads: UploadBook;
  readonly #sweep: Sweep;

  /** @param folder of the files in the state folder */
  constructor(host: KeeperHost, folder: () => string, now: () => number = Date.now) {
    this.#host = host;
    this.files = new FileBook({ host, now });
    this.#uploads = new UploadBook({ host, now });
    const places = new Places(async () => folder());
    this.#sweep = new Sweep({ host, files: this.files, uploads: this.#uploads, places, now });
  }

  /** Deletes what has expired. @param settings undefined: no files are kept any more */
  sweep(settings: FilesSettings | undefined): Promise<void> {
    return this.#sweep.run(settings);
  }

  /** Deletes the bytes and the row of a file. */
  async remove(id: string): Promise<FilesAnswer> {
    const answer = await this.files.remove(id);
    await this.#sweep.delete(answer.files ?? []);
    return answer;
  }

  /** @returns null if the store cannot be used */
  async answer(ask: FilesAsk): Promise<FilesAnswer | null> {
    try {
      return await this.#answer(ask);
    } catch (cause) {
      const why = cause instanceof GatewayError ? cause.code : (cause as Error).message;
      this.#host.report(`files: a question of a worker failed: ${why}`);
      return null;
    }
  }

  #answer(ask: FilesAsk): Promise<FilesAnswer> {
    const { files } = this;
    if ("open" in ask) return files.open(ask.open);
    if ("add" in ask) return files.add(ask.add, ask.quota, ask.of);
    if ("find" in ask) return files.find(ask.find, ask.seer);
    if ("list" in ask) return files.list(ask.list);
    if ("remove" in ask) return files.remove(ask.remove);
    if ("hold" in ask) return files.hold(ask.hold, ask.by);
    if ("release" in ask) return files.release(ask.release, ask.by);
    if ("begin" in ask) return this.#uploads.begin(ask.begin);
    if ("upload" in ask) return this.#uploads.read(ask.upload);
    if ("addPart" in ask) return this.#uploads.addPart(ask);
    return this.#uploads.cancel(ask.cancel);
  }
}
