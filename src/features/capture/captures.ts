/** Keeps captured calls. The file is created by the first one: without capture there is none. */
import { SQLiteError } from "bun:sqlite";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Captured, CapturedBatch } from "./captured.ts";
import { describeFailure, openFile } from "../../keeper/store/database.ts";
import { IN_MEMORY } from "../../keeper/settings.ts";
import { CAPTURE_MIGRATIONS, CaptureFile } from "./file.ts";

/** Between two looks for expired calls. Milliseconds. */
const LOOK_MS = 600_000;
/** After the start, when the file of an earlier run is looked at. Milliseconds. */
const FIRST_MS = 15_000;

export interface CapturesOptions {
  /** The state folder; absent: in memory. */
  folder?: string;
  /** Reports that calls could not be kept, as a sentence. */
  report(sentence: string): void;
  /** Milliseconds since 1970. */
  now?: () => number;
}

export class Captures {
  readonly #options: CapturesOptions;
  readonly #timers: readonly Timer[];
  #file: CaptureFile | undefined;
  #hasTold = false;
  /** Captured calls that were lost since the last one that was kept. */
  #lost = 0;

  constructor(options: CapturesOptions) {
    this.#options = options;
    this.#timers = [setTimeout(() => this.#expire(), FIRST_MS), setInterval(() => this.#expire(), LOOK_MS)];
    for (const timer of this.#timers) timer.unref();
  }

  put({ captured, fileBytes }: CapturedBatch): void {
    try {
      this.#open().put(captured, fileBytes);
    } catch (cause) {
      this.#lost += captured.length;
      return this.#tell(cause);
    }
    this.#hasTold = false;
    if (this.#lost > 0)
      this.#options.report(`${this.#lost} captured calls were lost; calls are captured again`);
    this.#lost = 0;
  }

  /** @throws Error with one sentence if the file cannot be read */
  get(id: string): Captured | undefined {
    return this.#known()?.get(id);
  }

  /** @returns how many calls were deleted */
  size(): { rows: number; bytes: number } {
    return this.#known()?.size() ?? { rows: 0, bytes: 0 };
  }

  deleteAll(): number {
    return this.#known()?.deleteAll() ?? 0;
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#file?.close();
    this.#file = undefined;
  }

  get #path(): string {
    const { folder } = this.#options;
    return folder === undefined ? IN_MEMORY : join(folder, "capture.db");
  }

  #open(): CaptureFile {
    const { now = Date.now } = this.#options;
    return (this.#file ??= openFile(this.#path, CAPTURE_MIGRATIONS, (db) => new CaptureFile(db, now)));
  }

  /** The file if there is one. */
  #known(): CaptureFile | undefined {
    if (this.#file) return this.#file;
    return this.#path !== IN_MEMORY && existsSync(this.#path) ? this.#open() : undefined;
  }

  #expire(): void {
    try {
      this.#known()?.deleteExpired();
    } catch (cause) {
      this.#tell(cause);
    }
  }

  #tell(cause: unknown): void {
    if (!this.#hasTold) {
      const place = cause instanceof SQLiteError ? `${this.#path} ` : "";
      this.#options.report(`captured calls are lost: ${place}${describeFailure(cause)}`);
    }
    this.#hasTold = true;
  }
}
