/** Reads `multipart/form-data` (RFC 7578) as it arrives: no part is ever in memory as a whole. */
import { GatewayError, invalidRequest } from "../core/error.ts";

/**
 * One part. Its bytes must be read before the next part is asked for; what is left of them is skipped. A piece of them is valid until
 * the next one is asked for.
 */
export interface Part {
  readonly name: string;
  /** Of a file, as the client named it. */
  readonly filename?: string;
  /** Media type, if the part names one. */
  readonly type?: string;
  /** Where its content begins in the body. Bytes. */
  readonly at: number;
  readonly bytes: AsyncGenerator<Uint8Array, void, undefined>;
}

/** What the runtime reads at once, and what may be left before it. Bytes. */
const BUFFER = 80 * 1024;

/** Longest headers of a part. Bytes. */
const MAX_HEAD = 16 * 1024;

/** The boundary in a content type. @throws GatewayError `unsupported-media-type` for another type */
export function boundaryOf(type: string | null): string {
  const [, quoted, plain] =
    /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"]{1,200})"|([^;\s"]{1,200}))/i.exec(type ?? "") ??
    [];
  const boundary = quoted ?? plain;
  if (boundary !== undefined) return boundary;
  throw new GatewayError(
    "unsupported-media-type",
    `The content type must be multipart/form-data with a boundary, but is ${type === null ? "missing" : `"${type.slice(0, 80)}"`}.`,
  );
}

/** @throws GatewayError `invalid-request` for a body that is not in this form, or ends too early; what `body` throws */
export async function* readParts(
  body: AsyncIterable<Uint8Array>,
  boundary: string,
): AsyncGenerator<Part, void, undefined> {
  const reader = new PartReader(body, boundary);
  try {
    await skip(reader.untilBoundary());
    while (await reader.hasPart()) {
      const bytes = reader.untilBoundary();
      const head = headOf(await reader.head());
      yield { ...head, at: reader.at, bytes };
      await skip(bytes);
    }
  } finally {
    await reader.close();
  }
}

/** A short text. @throws GatewayError `invalid-request` for a longer one */
export async function textOf({ name, bytes }: Part, most: number): Promise<string> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of bytes) {
    length += piece.length;
    if (length > most)
      throw invalidRequest(`The field ${name.slice(0, 60)} is longer than ${most} bytes.`, name);
    // The piece is valid until the next one is asked for.
    pieces.push(Uint8Array.from(piece));
  }
  return Buffer.concat(pieces).toString("utf8");
}

async function skip(bytes: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const piece of bytes) void piece;
}

class PartReader {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #delimiter: Buffer;
  /** Has what was read: it is used again, so that a long body leaves no garbage. */
  #buffer = Buffer.alloc(BUFFER);
  /** What was read and not used. The first boundary has no line before it. */
  #rest: Buffer;
  /** Bytes of the body that were read. */
  #read = 0;

  constructor(body: AsyncIterable<Uint8Array>, boundary: string) {
    this.#source = body[Symbol.asyncIterator]();
    this.#delimiter = Buffer.from(`\r\n--${boundary}`);
    this.#rest = this.#buffer.subarray(0, this.#buffer.write("\r\n"));
  }

  /** Where the bytes begin that come next. Valid behind the headers of a part: a line break is put in front of them. */
  get at(): number {
    return this.#read - this.#rest.length;
  }

  /** The bytes before the next boundary, which is skipped. */
  async *untilBoundary(): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      const at = this.#rest.indexOf(this.#delimiter);
      if (at >= 0) {
        const piece = this.#rest.subarray(0, at);
        this.#rest = this.#rest.subarray(at + this.#delimiter.length);
        if (piece.length > 0) yield piece;
        return;
      }
      // A boundary may have begun at the end.
      const safe = Math.max(0, this.#rest.length - this.#delimiter.length + 1);
      const piece = this.#rest.subarray(0, safe);
      this.#rest = this.#rest.subarray(safe);
      if (piece.length > 0) yield piece;
      await this.#more();
    }
  }

  /** What follows a boundary: a part, or the end. */
  async hasPart(): Promise<boolean> {
    while (this.#rest.length < 2) await this.#more();
    if (this.#rest.subarray(0, 2).toString("latin1") === "--") return false;
    const line = await this.#until("\r\n", MAX_HEAD);
    if (line.trim() !== "") throw invalidRequest("The request body has text behind a boundary.");
    // Headers end with an empty line, which may be the first one.
    this.#rest = Buffer.concat([Buffer.from("\r\n"), this.#rest]);
    return true;
  }

  head(): Promise<string> {
    return this.#until("\r\n\r\n", MAX_HEAD);
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }

  async #until(end: string, most: number): Promise<string> {
    for (;;) {
      const at = this.#rest.indexOf(end);
      if (at >= 0) {
        const text = this.#rest.subarray(0, at).toString("utf8");
        this.#rest = this.#rest.subarray(at + end.length);
        return text;
      }
      if (this.#rest.length > most) throw invalidRequest("The headers of a part are too long.");
      await this.#more();
    }
  }

  async #more(): Promise<void> {
    const next = await this.#source.next();
    if (next.done) throw invalidRequest("The request body ends before its last boundary.");
    this.#read += next.value.length;
    const { length } = this.#rest;
    const wanted = length + next.value.length;
    const into = wanted > this.#buffer.length ? Buffer.alloc(wanted) : this.#buffer;
    this.#rest.copy(into);
    into.set(next.value, length);
    this.#buffer = into;
    this.#rest = into.subarray(0, wanted);
  }
}

function headOf(head: string): Omit<Part, "bytes" | "at"> {
  const headers = new Map<string, string>();
  for (const line of head.split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  const disposition = headers.get("content-disposition") ?? "";
  const name = parameterOf(disposition, "name");
  if (name === undefined) throw invalidRequest("A part of the request body has no name.");
  const filename = extendedOf(disposition) ?? parameterOf(disposition, "filename");
  const type = headers.get("content-type");
  return { name, ...(filename !== undefined && { filename }), ...(type !== undefined && { type }) };
}

/** Browsers and SDKs write these characters so, and no others (HTML, "multipart/form-data encoding algorithm"). */
const CODED: Readonly<Record<string, string>> = { "%22": '"', "%0D": "\r", "%0A": "\n" };

function parameterOf(disposition: string, name: string): string | undefined {
  const [, quoted, plain] =
    new RegExp(`(?:^|;)\\s*${name}=(?:"([^"]*)"|([^;\\s"]+))`, "i").exec(disposition) ?? [];
  return (quoted ?? plain)?.replace(/%22|%0D|%0A/gi, (coded) => CODED[coded.toUpperCase()]!);
}

/** `filename*=UTF-8''na%C3%AFve.txt` (RFC 5987). */
function extendedOf(disposition: string): string | undefined {
  const coded = /(?:^|;)\s*filename\*=utf-8'[^']*'([^;\s]+)/i.exec(disposition)?.[1];
  try {
    return coded && decodeURIComponent(coded);
  } catch {
    return undefined;
  }
}
