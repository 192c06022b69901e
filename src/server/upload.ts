/** Takes in a whole `multipart/form-data` body, so that a call can be routed by its fields and the body sent on as it came. */
import { type FileHandle, open, unlink } from "node:fs/promises";
import { invalidRequest } from "../core/error.ts";
import { boundaryOf, readParts, textOf } from "../stream/multipart.ts";

export interface UploadLimits {
  /** Directory of the file for long bodies. */
  directory: string;
  /** Longest body. Bytes. */
  body: number;
  /** Longest text field, and all of them together. Bytes. */
  text: number;
}

/** A part without its content. */
export interface PartOutline {
  name: string;
  filename?: string;
  type?: string;
  /** Bytes. */
  length: number;
}

export interface Upload extends AsyncDisposable {
  /** In the order of the body. */
  readonly parts: readonly PartOutline[];
  /** Texts of the parts without a file name, by name (without `[]` at its end). */
  readonly fields: ReadonlyMap<string, readonly string[]>;
  /** Of the whole body, in bytes. */
  readonly length: number;
  /** The body as it came; every call reads it from its beginning. */
  bytes(): AsyncGenerator<Uint8Array, void, undefined>;
}

/** A body up to this length stays in memory. Bytes. */
const IN_MEMORY = 1024 * 1024;

/** What is read from the file at once. Bytes. */
const PIECE = 256 * 1024;

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
    const parts: PartOutline[] = [];
    const fields = new Map<string, string[]>();
    let left = limits.text;
    for await (const part of readParts(stayingOpen(copied), boundary)) {
      const { bytes, ...head } = part;
      let length = 0;
      if (head.filename === undefined) {
        const text = await textOf(part, left);
        length = Buffer.byteLength(text);
        left -= length;
        const name = head.name.replace(/\[\]$/, "");
        fields.set(name, [...(fields.get(name) ?? []), text]);
      } else for await (const piece of bytes) length += piece.length;
      parts.push({ ...head, length });
    }
    // What follows the last boundary belongs to the body, too.
    for await (const piece of copied) void piece;
    return {
      ...{ parts, fields, length: spool.length },
      bytes: () => spool.bytes(),
      [Symbol.asyncDispose]: () => spool.close(),
    };
  } catch (thrown) {
    await copied.return();
    await spool.close();
    throw thrown;
  }
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

  async *bytes(): AsyncGenerator<Uint8Array, void, undefined> {
    if (!this.#file) {
      yield* this.#pieces;
      return;
    }
    for (let at = 0; at < this.length;) {
      const { bytesRead, buffer } = await this.#file.read(Buffer.alloc(PIECE), 0, PIECE, at);
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
    const path = `${this.#limits.directory}/upload-${crypto.randomUUID()}`;
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
