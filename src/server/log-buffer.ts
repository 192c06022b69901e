/** Lines of the log on their way to whatever reads them: gathered, written one piece at a time, bounded. */

/** Takes a piece of the log; a promise when the reader has not taken it yet. */
export type WriteLog = (text: string) => Promise<void> | void;

/** Characters that wait at most for a reader that stalls. Lines beyond that are dropped and counted. */
const MOST_HELD = 1 << 20;
/** Lines of this time are written together: a write for each call would cost more than the rest of its line. */
const GATHER_MS = 20;
/** Longest time to wait for a reader at the end. */
const FLUSH_MS = 100;

export interface LogBufferOptions {
  write: WriteLog;
  /** Removes what must not be read; sees all that is written. */
  hide(text: string): string;
  /** The line that reports dropped lines. */
  writeDropped(count: number): string;
}

export class LogBuffer {
  readonly #options: LogBufferOptions;
  #lines = "";
  #dropped = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The piece that the reader has not taken yet. */
  #writing: Promise<void> | undefined;

  constructor(options: LogBufferOptions) {
    this.#options = options;
  }

  /** @param line without its newline */
  add(line: string): void {
    if (this.#lines.length + line.length > MOST_HELD) {
      this.#dropped++;
      return;
    }
    this.#lines += `${line}\n`;
    this.#timer ??= setTimeout(() => this.#write(), GATHER_MS);
  }

  /** Writes what is held, and waits until the reader has taken it. @param ms longest wait */
  async flush(ms = FLUSH_MS): Promise<void> {
    this.#write();
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    const inTime = async () => {
      while (this.#writing) await this.#writing;
    };
    await Promise.race([inTime(), late]);
    clearTimeout(timer);
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#writing) return;
    if (this.#dropped > 0) {
      this.#lines += `${this.#options.writeDropped(this.#dropped)}\n`;
      this.#dropped = 0;
    }
    if (this.#lines === "") return;
    const text = this.#options.hide(this.#lines);
    this.#lines = "";
    this.#writing = this.#options.write(text)?.then(() => {
      this.#writing = undefined;
      this.#write();
    });
  }
}

/**
 * Writes to a stream of the process. A reader that is gone must not end the gateway: that is reported once on standard
 * error, and the log is lost from then on.
 */
export function writeTo(stream: NodeJS.WriteStream): WriteLog {
  process.stderr.on("error", () => {});
  stream.once("error", ({ message }) => {
    process.stderr.write(`weir: the log cannot be written any more: ${message}\n`);
  });
  stream.on("error", () => {});
  return (text) => {
    let taken = false;
    const { promise, resolve } = Promise.withResolvers<void>();
    stream.write(text, () => {
      taken = true;
      resolve();
    });
    return taken ? undefined : promise;
  };
}
