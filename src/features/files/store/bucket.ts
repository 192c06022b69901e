/** Objects in a bucket of S3 or of a service like it. Credentials, region and endpoint come from the environment. */
import { S3Client, type S3Options } from "bun";
import type { FileShop, Stored } from "./shop.ts";

/** Parts of a transfer: at most 10,000 make an object. Bytes. */
const PART = 8 * 1024 * 1024;

export class BucketShop implements FileShop {
  readonly #client: S3Client;
  readonly #prefix: string;

  /** @param prefix of the names of objects @param options what is not from the environment */
  constructor(bucket: string, prefix: string, options: S3Options = {}) {
    this.#client = new S3Client({ ...options, bucket });
    this.#prefix = prefix === "" || prefix.endsWith("/") ? prefix : `${prefix}/`;
  }

  async put(name: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const writer = this.#client.file(this.#prefix + name).writer({ partSize: PART, queueSize: 1, retry: 3 });
    let waiting = 0;
    try {
      for await (const piece of bytes) {
        // The writer sends what it was given while the next piece is filled.
        void writer.write(Uint8Array.from(piece));
        waiting += piece.length;
        if (waiting < PART) continue;
        await writer.flush();
        waiting = 0;
      }
    } catch (cause) {
      // The writer of the runtime cannot give up: it makes an object of what it has.
      await Promise.resolve(writer.end()).catch(() => {});
      await this.del(name).catch(() => {});
      throw cause;
    }
    await writer.end();
  }

  async *get(name: string, from: number, to: number): AsyncGenerator<Uint8Array, void, undefined> {
    if (from >= to) return;
    for await (const piece of this.#client
      .file(this.#prefix + name)
      .slice(from, to)
      .stream())
      yield piece as Uint8Array;
  }

  async del(name: string): Promise<void> {
    await this.#client.delete(this.#prefix + name);
  }

  async *list(): AsyncGenerator<Stored, void, undefined> {
    let startAfter: string | undefined;
    for (;;) {
      const page = await this.#client.list({ prefix: this.#prefix, ...(startAfter && { startAfter }) });
      for (const { key, lastModified } of page.contents ?? [])
        yield { name: key.slice(this.#prefix.length), at: Date.parse(lastModified ?? "") };
      startAfter = page.contents?.at(-1)?.key;
      if (!page.isTruncated || startAfter === undefined) return;
    }
  }
}
