/** A file that grows at its end, and whose end is known even after a write has failed. */
import { type FileHandle, open } from "node:fs/promises";

export class AppendFile {
  readonly #file: FileHandle;
  /** Bytes that are durable. */
  #size = 0;
  /** Whether there may be bytes behind them, of a write that failed. */
  #isCut = false;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** @throws Error if the file is there */
  static async create(path: string): Promise<AppendFile> {
    return new AppendFile(await open(path, "wx", 0o600));
  }

  get size(): number {
    return this.#size;
  }

  /**
   * Resolves when the bytes are on the disk. One call at a time.
   * @throws Error such as `ENOSPC`; none of the bytes count then, and the next call may succeed
   */
  async append(parts: readonly Uint8Array[]): Promise<void> {
    if (parts.length === 0) return;
    const bytes = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
    try {
      if (this.#isCut) await this.#cut();
      this.#isCut = true;
      await this.#write(bytes);
      await this.#file.datasync();
      this.#size += bytes.length;
      this.#isCut = false;
    } catch (error) {
      // A part of the bytes must not stay until the next call, which may be after a crash.
      await this.#cut().catch(() => {});
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  async #write(bytes: Uint8Array): Promise<void> {
    let done = 0;
    while (done < bytes.length)
      done += (await this.#file.write(bytes, done, bytes.length - done, this.#size + done)).bytesWritten;
  }

  async #cut(): Promise<void> {
    await this.#file.truncate(this.#size);
    this.#isCut = false;
  }
}
