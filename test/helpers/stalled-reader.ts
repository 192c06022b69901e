/** A pipe whose reader takes nothing until it is told to. */
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface StalledReader {
  /** What a child gets as its standard output. */
  descriptor: number;
  /** What has come so far and was not read before. */
  read(): string;
  /** The reader is gone: the child cannot write any more. */
  close(): void;
}

/** @throws Error where the system has no named pipes */
export function stalledReader(): StalledReader {
  const folder = mkdtempSync(join(tmpdir(), "weir-pipe-"));
  const path = join(folder, "pipe");
  if (Bun.spawnSync(["mkfifo", path]).exitCode !== 0) throw new Error("mkfifo failed");
  const source = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const descriptor = openSync(path, constants.O_WRONLY);
  const piece = Buffer.alloc(1 << 16);
  const decoder = new TextDecoder();
  const readOnce = () => {
    try {
      return readSync(source, piece);
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === "EAGAIN") return 0;
      throw cause;
    }
  };
  return {
    descriptor,
    read() {
      let text = "";
      for (let length = readOnce(); length > 0; length = readOnce())
        text += decoder.decode(piece.subarray(0, length), { stream: true });
      return text;
    },
    close() {
      closeSync(source);
      closeSync(descriptor);
      rmSync(folder, { recursive: true });
    },
  };
}
