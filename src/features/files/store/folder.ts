/** Objects as files of one folder. */
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { FileShop, Stored } from "./shop.ts";

/** The end of the name of an object that is being written. */
const UNFINISHED = ".new";

export class FolderShop implements FileShop {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async put(name: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const path = this.#at(name);
    const unfinished = path + UNFINISHED;
    try {
      const file = await open(unfinished, "wx", 0o600);
      try {
        for await (const piece of bytes) await file.writeFile(piece);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(unfinished, path);
    } catch (cause) {
      await rm(unfinished, { force: true });
      throw cause;
    }
    await this.#syncFolder();
  }

  async *get(name: string, from: number, to: number): AsyncGenerator<Uint8Array, void, undefined> {
    const file = await open(this.#at(name), "r");
    const buffer = Buffer.allocUnsafe(Math.min(PIECE, Math.max(0, to - from)));
    try {
      for (let at = from; at < to;) {
        const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, to - at), at);
        if (bytesRead === 0) return;
        at += bytesRead;
        yield buffer.subarray(0, bytesRead);
      }
    } finally {
      await file.close();
    }
  }

  async del(name: string): Promise<void> {
    await rm(this.#at(name), { force: true });
  }

  async *list(): AsyncGenerator<Stored, void, undefined> {
    for (const name of await readdir(this.#folder).catch(() => [])) {
      const found = await stat(this.#at(name)).catch(() => undefined);
      if (found?.isFile()) yield { name, at: found.mtimeMs };
    }
  }

  #at(name: string): string {
    return join(this.#folder, name);
  }

  /** A renamed file survives a loss of power only with its folder. */
  async #syncFolder(): Promise<void> {
    const folder = await open(this.#folder, "r");
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }
}

/** Read at once. Bytes. */
const PIECE = 256 * 1024;
