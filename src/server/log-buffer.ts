/** A bounded buffer between the log and its reader: collects lines and writes them in batches. */

/** Writes text; a promise resolves when the reader has accepted it. */
export type WriteLog = (text: string) => Promise<void> | void;

/** Size of the buffer, in characters. weir drops and counts lines beyond it. */
const MAX_HELD = 1 << 20;
/** Time between two writes: a write for each call would cost more than the rest of its log line. */
const BATCH_MS = 20;
/** Longest wait for the reader when weir stops. */
const FLUSH_MS = 100;

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
    this.#timer ??= setTimeout(() => this.#write(), BATCH_MS);
  }

  /** Writes the buffer, and waits until the reader has accepted it. @param ms longest wait */
  async flush(ms = FLUSH_MS): Promise<void> {
    this.#write();
    const { promise: timedOut, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    const written = async () => {
      while (this.#writing) await this.#writing;
    };
    await Promise.race([written(), timedOut]);
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
 * Writes to a stream of the process. If the reader closes it, weir goes on without a log, and reports that once on standard
 * error.
 */
export function writeTo(stream: NodeJS.WriteStream): WriteLog {
  process.stderr.on("error", () => {});
  stream.once("error", ({ message }) => {
    process.stderr.write(`weir: the log can no longer be written: ${message}\n`);
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
 * Largest write to a pipe that is atomic (`PIPE_BUF` of Linux). Workers share one pipe, and a longer write could be
 * interrupted by another worker's.
 */
const ATOMIC_BYTES = 4_096;
const NEWLINE = 10;

/** Cuts the bytes into pieces of whole lines of at most `ATOMIC_BYTES`; a longer line is a piece of its own. */
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
