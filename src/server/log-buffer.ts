/** Lines of the log on their way to whatever reads them: gathered, written one piece at a time, bounded. */

/** Takes a piece of the log; a promise that resolves once the reader has taken it. */
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
  return async (text) => {
    for (const piece of cutAtLines(Buffer.from(text))) await writePiece(stream, piece);
  };
}

function writePiece(stream: NodeJS.WriteStream, piece: Uint8Array): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  stream.write(piece, () => resolve());
  return promise;
}

/**
 * Bytes that the system writes to a pipe at once or not at all (`PIPE_BUF` of Linux). Workers share one pipe: a longer
 * piece could be torn by another worker's.
 */
const ATOMIC_BYTES = 4_096;
const NEWLINE = 10;

/** Pieces of whole lines, each as long as can be written at once; a line that is longer is a piece of its own. */
function* cutAtLines(bytes: Uint8Array): Generator<Uint8Array> {
  for (let begin = 0; begin < bytes.length;) {
    let end = begin + ATOMIC_BYTES;
    if (end < bytes.length) {
      end = bytes.lastIndexOf(NEWLINE, end - 1) + 1;
      if (end <= begin) end = bytes.indexOf(NEWLINE, begin) + 1 || bytes.length;
    }
    yield bytes.subarray(begin, end);
    begin = end;
  }
}
