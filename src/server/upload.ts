/** Takes in a whole `multipart/form-data` body, so that a call can be routed by its fields and the body sent on as it came. */
import { type FileHandle, open, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { invalidRequest } from "../core/error.ts";
import type { Upload, UploadPart } from "../core/upload.ts";
import { AudioLengthReader } from "../stream/audio/length.ts";
import { boundaryOf, type Part, readParts } from "../stream/multipart.ts";

export interface UploadLimits {
  /** Folder of the file for long bodies. Default: the system's folder for temporary files. */
  directory?: string;
  /** Longest body. Bytes. */
  body: number;
  /** All text fields together. Bytes. */
  text: number;
  /** Files are audio, and their length is read. */
  hasAudio?: boolean | undefined;
}

/** A body up to this length stays in memory. Bytes. */
const IN_MEMORY = 1024 * 1024;

/** What is read from the file at once. Bytes. */
const PIECE = 256 * 1024;

/** No vendor defines a form with a tenth of them. */
const MAX_PARTS = 1000;

/**
 * The caller must dispose of the result.
 * @param type the content type of the request
 * @throws GatewayError `invalid-request` for a body that is not in this form, is too long or ends too early, and
 * `unsupported-media-type`; nothing is left then
 */
export async function takeUpload(
  body: AsyncIterable<Uint8Array>,
  type: string | null,
  limits: UploadLimits,
): Promise<Upload> {
  const boundary = boundaryOf(type);
  const spool = new Spool(limits);
  const copied = spool.copying(body);
  try {
    const parts: UploadPart[] = [];
    let left = limits.text;
    for await (const part of readParts(stayingOpen(copied), boundary)) {
      if (parts.length === MAX_PARTS)
        throw invalidRequest(`The request body has more than ${MAX_PARTS} parts.`);
      const isText = part.filename === undefined;
      const read = await (isText ? readText(part, left) : readFile(part, limits.hasAudio));
      if (isText) left -= read.length;
      const { bytes: _, ...head } = part;
      parts.push({ ...head, ...read });
    }
    // What follows the last boundary belongs to the body, too.
    for await (const piece of copied) void piece;
    return {
      ...{ type: type!, parts, length: spool.length },
      bytes: (texts) => spliced(spool, texts ?? new Map()),
      read: ({ at, length }) => spool.take(at, length),
      [Symbol.asyncDispose]: () => spool.close(),
    };
  } catch (thrown) {
    await copied.return();
    await spool.close();
    throw thrown;
  }
}

/** @param most bytes that texts may still have */
async function readText({ name, bytes }: Part, most: number): Promise<{ length: number; text: string }> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of bytes) {
    length += piece.length;
    if (length > most) throw invalidRequest(`The field ${name.slice(0, 60)} is too long.`, name.slice(0, 60));
    // The piece is valid until the next one is asked for.
    pieces.push(Uint8Array.from(piece));
  }
  return { length, text: Buffer.concat(pieces).toString("utf8") };
}

async function readFile(
  { bytes }: Part,
  hasAudio = false,
): Promise<Pick<UploadPart, "length" | "sha256" | "audio">> {
  const audio = hasAudio ? new AudioLengthReader() : undefined;
  const hash = new Bun.CryptoHasher("sha256");
  let length = 0;
  for await (const piece of bytes) {
    length += piece.length;
    hash.update(piece);
    audio?.push(piece);
  }
  return { length, sha256: hash.digest("hex"), ...(audio && { audio: audio.end() }) };
}

/** The body with other contents of some parts. */
async function* spliced(
  spool: Spool,
  texts: ReadonlyMap<UploadPart, Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let from = 0;
  for (const [{ at, length }, text] of [...texts].toSorted(([one], [other]) => one.at - other.at)) {
    yield* spool.bytes(from, at);
    yield text;
    from = at + length;
  }
  yield* spool.bytes(from, spool.length);
}

/** The same bytes; an end of reading does not end `source`. */
function stayingOpen(source: AsyncIterator<Uint8Array>): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => ({ next: () => source.next() }) };
}

class Spool {
  readonly #limits: UploadLimits;
  #pieces: Uint8Array[] = [];
  #file: FileHandle | undefined;
  length = 0;

  constructor(limits: UploadLimits) {
    this.#limits = limits;
  }

  async *copying(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const piece of body) {
      const at = this.length;
      this.length += piece.length;
      if (this.length > this.#limits.body)
        throw invalidRequest(`The request body is longer than ${this.#limits.body} bytes.`);
      if (!this.#file && this.length > IN_MEMORY) await this.#spill();
      if (this.#file) await writeAll(this.#file, piece, at);
      else this.#pieces.push(Uint8Array.from(piece));
      yield piece;
    }
  }

  /** A part of the body, in pieces. */
  async *bytes(from: number, to: number): AsyncGenerator<Uint8Array, void, undefined> {
    if (this.#file) yield* this.#fromFile(from, to);
    else yield* this.#fromMemory(from, to);
  }

  /** A part of the body, in one piece. */
  async take(at: number, length: number): Promise<Uint8Array> {
    const all = Buffer.alloc(length);
    let filled = 0;
    for await (const piece of this.bytes(at, at + length)) {
      all.set(piece, filled);
      filled += piece.length;
    }
    return all;
  }

  *#fromMemory(from: number, to: number): Generator<Uint8Array> {
    let at = 0;
    for (const piece of this.#pieces) {
      const part = piece.subarray(Math.max(0, from - at), Math.max(0, to - at));
      at += piece.length;
      if (part.length > 0) yield part;
    }
  }

  async *#fromFile(from: number, to: number): AsyncGenerator<Uint8Array, void, undefined> {
    const buffer = Buffer.alloc(Math.min(PIECE, to - from));
    for (let at = from; at < to;) {
      if (!this.#file) throw new Error("The upload is gone.");
      const { bytesRead } = await this.#file.read(buffer, 0, Math.min(buffer.length, to - at), at);
      if (bytesRead === 0) throw new Error("The file of an upload is shorter than the upload.");
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  async close(): Promise<void> {
    this.#pieces = [];
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  async #spill(): Promise<void> {
    const path = `${this.#limits.directory ?? tmpdir()}/weir-upload-${crypto.randomUUID()}`;
    this.#file = await open(path, "wx+", 0o600);
    // Without a name the file ends with the process at the latest.
    await unlink(path);
    let at = 0;
    for (const piece of this.#pieces) {
      await writeAll(this.#file, piece, at);
      at += piece.length;
    }
    this.#pieces = [];
  }
}

async function writeAll(file: FileHandle, piece: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < piece.length;)
    done += (await file.write(piece, done, piece.length - done, position + done)).bytesWritten;
}
