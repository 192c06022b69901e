/**
 * Decompresses an answer that is compressed although weir did not accept compression. It decompresses while the body is
 * read, so that a small body that expands to a huge one takes no more memory than the caller reads.
 */
import { Readable, type Transform } from "node:stream";
import type { ByteReader, ByteStream } from "./types.ts";

/** Loaded by the first compressed answer: most gateways never need it, and a start would wait for it. */
const zlib = () => process.getBuiltinModule("node:zlib");

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: () => zlib().createGunzip(),
  "x-gzip": () => zlib().createGunzip(),
  deflate: () => zlib().createInflate(),
  br: () => zlib().createBrotliDecompress(),
  zstd: () => zlib().createZstdDecompress(),
};

/** @param encoding value of `content-encoding`; bytes in an unknown encoding are returned unchanged */
export function decoded(body: ByteStream & ByteReader, encoding: string): ByteStream {
  const create = DECODERS[encoding.trim().toLowerCase()];
  return create
    ? { getReader: () => new DecodingReader(body.getReader(), create()) }
    : { getReader: () => body };
}

class DecodingReader implements ByteReader {
  readonly #source: ByteReader;
  readonly #decoder: Transform;
  readonly #pieces: AsyncIterator<Uint8Array>;

  constructor(source: ByteReader, decoder: Transform) {
    this.#source = source;
    this.#decoder = decoder;
    const packed = Readable.from(piecesOf(source));
    packed.on("error", (cause) => decoder.destroy(cause));
    this.#pieces = packed.pipe(decoder)[Symbol.asyncIterator]();
  }

  async read(): Promise<{ done: boolean; value?: Uint8Array }> {
    const { done, value } = await this.#pieces.next();
    return done ? { done: true } : { done: false, value };
  }

  async cancel(): Promise<void> {
    await this.#source.cancel();
    this.#decoder.destroy();
  }
}

async function* piecesOf(reader: ByteReader): AsyncGenerator<Uint8Array> {
  for (;;) {
    const { done, value } = await reader.read();
    if (done || !value) return;
    yield value;
  }
}
