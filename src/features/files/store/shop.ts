/** Where sealed bytes lie: a folder or a bucket. */
/** An object that was written, and when. Milliseconds since 1970. */
export interface Stored {
  readonly name: string;
  readonly at: number;
}

/** Names have letters, digits and dashes. Each method rejects with the error of the system or of the bucket. */
export interface FileShop {
  /** Writes an object whole: until then, and if `bytes` throws, it is not there. Returns when it would survive a loss of power. */
  put(name: string, bytes: AsyncIterable<Uint8Array>): Promise<void>;
  /** Reads from one offset to before another one. An object that is shorter ends earlier. A piece is valid until the next one is asked for. */
  get(name: string, from: number, to: number): AsyncIterable<Uint8Array>;
  /** Deletes an object, if there is one. */
  del(name: string): Promise<void>;
  /** What is there, with leftovers of writing that broke off. */
  list(): AsyncIterable<Stored>;
}
