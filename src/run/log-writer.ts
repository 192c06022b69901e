/** Writes the log to standard output, whatever that is: a pipe, a terminal, a file on a disk that may be full. */
import { fstatSync, write } from "node:fs";
import { isatty } from "node:tty";
import { promisify } from "node:util";
import type { WriteLog } from "../server/log.ts";

/**
 * Writes to a stream of the process. If the reader closes it, weir goes on without a log; if the disk of a log file is full, weir
 * goes on and tries again. Either is reported once on standard error.
 */
export function writeTo(stream: NodeJS.WriteStream & { fd: number }): WriteLog {
  process.stderr.on("error", () => {});
  const tell = ({ message }: Error) =>
    process.stderr.write(`weir: the log can no longer be written: ${message}\n`);
  if (isFile(stream.fd)) return toFile(stream.fd, tell);
  stream.once("error", tell);
  stream.on("error", () => {});
  return async (text) => {
    for (const piece of cutAtLines(Buffer.from(text))) await writePiece(stream, piece);
  };
}

/** A file, or a device that is no terminal. The streams of the runtime end with the first error. */
function isFile(fd: number): boolean {
  try {
    const found = fstatSync(fd);
    return found.isFile() || (found.isCharacterDevice() && !isatty(fd));
  } catch {
    return false;
  }
}

/** In one write: the system writes to a file without a break, so that lines of several workers do not mix. */
function toFile(fd: number, tell: (fault: Error) => void): WriteLog {
  let hasTold = false;
  return async (text) => {
    const bytes = Buffer.from(text);
    const { written, fault } = await writeFully(fd, bytes);
    if (fault && !hasTold) tell(fault);
    hasTold = fault !== undefined;
    if (!fault) return undefined;
    const whole = written === 0 ? 0 : bytes.lastIndexOf(NEWLINE, written - 1) + 1;
    // A line of which only the beginning found room is written again, whole.
    return (written > whole ? "\n" : "") + bytes.subarray(whole).toString();
  };
}

async function writeFully(fd: number, bytes: Uint8Array): Promise<{ written: number; fault?: Error }> {
  let written = 0;
  try {
    while (written < bytes.byteLength) written += await writeSome(fd, bytes.subarray(written));
    return { written };
  } catch (fault) {
    return { written, fault: fault instanceof Error ? fault : new Error(String(fault)) };
  }
}

const writeSome = promisify(
  (fd: number, bytes: Uint8Array, done: (fault: Error | null, count: number) => void) =>
    write(fd, bytes, 0, bytes.byteLength, null, done),
);

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
