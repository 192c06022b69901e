/** A bounded buffer between the log and its reader: collects lines and writes them in batches. */
import { endsWithin } from "../core/within.ts";

/** Writes text; a promise resolves when the reader has accepted it, with the text for which there was no room. */
export type WriteLog = (text: string) => Promise<string | void> | void;

/** Size of the buffer, in characters. weir drops and counts lines beyond it. */
const MAX_HELD = 1 << 20;
/** Time between two writes: a write for each call would cost more than the rest of its log line. */
const BATCH_MS = 20;
/** Longest wait for the reader when weir stops. */
const FLUSH_MS = 100;
/** Time until text is written again for which there was no room. */
const ROOM_MS = 1_000;

export interface LogBufferOptions {
  write: WriteLog;
  /** Masks secrets in all that is written. */
  hide(text: string): string;
  /** The line that reports dropped lines. */
  writeDropped(count: number): string;
}

export class LogBuffer {
  readonly #options: LogBufferOptions;
  #lines = "";
  #dropped = 0;
  /** The last text found no room on the disk. */
  #isFull = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The text that the reader has not accepted yet. */
  #writing: Promise<void> | undefined;

  constructor(options: LogBufferOptions) {
    this.#options = options;
  }

  /** @param line without its newline */
  add(line: string): void {
    if (this.#lines.length + line.length > MAX_HELD) {
      this.#dropped++;
      return;
    }
    this.#lines += `${line}\n`;
    this.#timer ??= setTimeout(() => this.#write(), this.#isFull ? ROOM_MS : BATCH_MS);
  }

  /** Writes the buffer, and waits until the reader has accepted it. @param ms longest wait */
  async flush(ms = FLUSH_MS): Promise<void> {
    this.#write();
    const written = async () => {
      while (this.#writing) await this.#writing;
    };
    await endsWithin(written(), ms);
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#writing) return;
    if (this.#dropped > 0 && !this.#isFull) this.#reportDropped();
    if (this.#lines === "") return;
    const text = this.#options.hide(this.#lines);
    this.#lines = "";
    this.#writing = this.#options.write(text)?.then((rest) => {
      this.#writing = undefined;
      this.#isFull = rest !== undefined && rest !== "";
      if (!this.#isFull) return this.#dropped > 0 || this.#lines !== "" ? this.#write() : undefined;
      // What came meanwhile is newer, and is dropped first.
      this.#lines = rest + this.#lines;
      this.#timer ??= setTimeout(() => this.#write(), ROOM_MS);
    });
  }

  #reportDropped(): void {
    this.#lines += `${this.#options.writeDropped(this.#dropped)}\n`;
    this.#dropped = 0;
  }
}
