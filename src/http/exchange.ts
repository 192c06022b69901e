/** One request and its answer: parses the head, decodes the framing of the body, and passes the body on as it is read. */
import type { Stoppable } from "../core/stop.ts";
import { type BodyReader, createBodyReader, nextPiece } from "./body.ts";
import { decoded } from "./decoded.ts";
import { HttpError, malformed } from "./error.ts";
import type { Head } from "./head.ts";
import { HeaderList, keepAliveSeconds, MAX_HEAD_BYTES, parseHead } from "./head.ts";
import type { BodyRest, ByteReader, ByteStream, Piece, Receiver, UpstreamResponse } from "./types.ts";

/** Maximum number of body bytes buffered for a reader. Above it weir stops reading from the socket. */
const HIGH_WATER = 64 * 1024;
/**
 * A chunk of this size shows that the provider sends faster than the caller reads. The next chunk could have half a megabyte,
 * so weir stops reading from the socket until the caller asks for more. Bytes.
 */
const LARGE_PIECE = 16 * 1024;
/** Maximum number of informational (1xx) answers before the final one. */
const MAX_INFORMATIONAL = 8;
const BLANK_LINE = Buffer.from("\r\n\r\n");
const STATUS_LINE = Buffer.from("HTTP/1");
const NO_BYTES = new Uint8Array(0);
/** Until the head has arrived. */
const NO_HEADERS = new HeaderList();

/** The connection that carries an exchange. */
export interface Carrier {
  pause(): void;
  resume(): void;
  /** The caller does not want the answer any more. */
  abandon(exchange: Exchange): void;
}

export class Exchange implements UpstreamResponse, ByteReader {
  /** Request line and headers, including the blank line at the end. */
  readonly requestHead: string;
  readonly requestBody: readonly Uint8Array[];
  readonly requestRest: BodyRest | undefined;
  /** When the request was written, and when the first byte of the answer came; monotonic milliseconds. */
  sentAt = 0;
  firstByteAt = 0;
  /** The request was sent on a connection that had carried others. */
  reused = false;
  /** Bytes arrived after the end of the answer. */
  surplus = false;
  /** The answer is complete, has failed, or is not wanted any more. */
  done = false;
  keepAlive = false;
  /** The provider's idle timeout for the connection; milliseconds. */
  idleMs = Number.POSITIVE_INFINITY;
  /** Resolves when the head has arrived. */
  readonly response: Promise<UpstreamResponse>;

  status = 0;
  headers = NO_HEADERS;

  readonly #stop: Stoppable;
  #connection: Carrier | undefined;
  #resolve!: (response: UpstreamResponse) => void;
  #reject!: (reason: unknown) => void;
  #head: Buffer | undefined;
  #informational = 0;
  #reader: BodyReader | undefined;
  #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  #paused = false;
  #receiver: Receiver | undefined;
  #failure: { reason: unknown } | undefined;

  constructor(
    requestHead: string,
    requestBody: readonly Uint8Array[],
    stop: Stoppable,
    requestRest?: BodyRest,
  ) {
    this.requestHead = requestHead;
    this.requestBody = requestBody;
    this.requestRest = requestRest;
    this.#stop = stop;
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    stop.addEventListener("abort", this);
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  /** How far the answer has come. */
  get phase(): "sent" | "head" | "body" {
    return this.#reader ? "body" : this.firstByteAt > 0 ? "head" : "sent";
  }

  /** The body ends when the connection does. */
  get endsWithConnection(): boolean {
    return this.#reader?.endsWithConnection ?? false;
  }

  attach(connection: Carrier): void {
    this.#connection = connection;
  }

  /** The caller aborted the request. */
  handleEvent(): void {
    this.#connection?.abandon(this);
    this.fail(this.#stop.reason);
  }

  /** Processes the next bytes of the connection. @throws HttpError `EPROTO` */
  receive(bytes: Buffer): void {
    this.firstByteAt ||= performance.now();
    const reader = this.#reader;
    if (reader) return this.#receiveBody(reader, bytes);
    const rest = this.#receiveHead(this.#head ? Buffer.concat([this.#head, bytes]) : bytes);
    if (!rest) return;
    this.#receiveBody(this.#reader!, rest);
    this.#resolve(this);
  }

  /** @returns the bytes after the head; undefined while the head is incomplete */
  #receiveHead(bytes: Buffer): Buffer | undefined {
    if (bytes[0] !== STATUS_LINE[0]) throw notHttp1(bytes);
    for (let left = bytes; ;) {
      const end = left.indexOf(BLANK_LINE);
      if ((end < 0 ? left.length : end) > MAX_HEAD_BYTES) throw malformed("its head is too long");
      if (end < 0) {
        this.#head = left;
        return undefined;
      }
      const head = parseHead(left.toString("latin1", 0, end));
      left = left.subarray(end + BLANK_LINE.length);
      if (head.status >= 200) {
        this.#begin(head);
        return left;
      }
      if (head.status === 101) throw malformed("it changes the protocol, which the request did not ask for");
      if (++this.#informational > MAX_INFORMATIONAL) throw malformed("it has too many heads");
    }
  }

  #begin(head: Head): void {
    this.#head = undefined;
    this.status = head.status;
    this.headers = head.headers;
    this.keepAlive = head.keepAlive;
    this.idleMs = (keepAliveSeconds(head.headers) ?? Number.POSITIVE_INFINITY) * 1000;
    this.#reader = createBodyReader(head.framing);
  }

  #receiveBody(reader: BodyReader, bytes: Uint8Array): void {
    const pieces: Uint8Array[] = [];
    const taken = bytes.length === 0 ? 0 : reader.read(bytes, 0, pieces);
    if (reader.done) {
      // First, because a receiver that cancels must not close the connection of a complete answer.
      this.surplus = taken < bytes.length;
      this.#settle();
    }
    if (pieces.length > 0) this.#deliver(pieces);
    if (reader.done) this.#end();
  }

  #deliver(pieces: Uint8Array[]): void {
    const receiver = this.#receiver;
    if (receiver) {
      this.#receiver = undefined;
      const value = joined(pieces);
      if (value.length >= LARGE_PIECE && !this.done) this.#pause();
      return receiver.piece(value);
    }
    for (const piece of pieces) {
      this.#queue.push(piece);
      this.#queuedBytes += piece.length;
    }
    if (this.#queuedBytes >= HIGH_WATER && !this.done) this.#pause();
  }

  #pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    this.#connection?.pause();
  }

  /** The answer is complete. */
  finish(): void {
    this.#settle();
    this.#end();
  }

  /** @param reason the error that the reader of the head or body gets, after the bytes that already arrived */
  fail(reason: unknown): void {
    if (this.done) return;
    this.#settle();
    this.#failure = { reason };
    this.#reject(reason);
    this.#end();
  }

  /** Deferred to a microtask: the caller that stops the exchange must first finish what it does. */
  #end(): void {
    const receiver = this.#receiver;
    if (!receiver) return;
    this.#receiver = undefined;
    const failure = this.#failure;
    queueMicrotask(() => (failure ? receiver.fail(failure.reason) : receiver.end()));
  }

  #settle(): void {
    this.done = true;
    if (this.#paused) this.#continue();
    this.#stop.removeEventListener("abort", this);
  }

  get body(): ByteStream {
    const encoding = this.headers.get("content-encoding");
    return encoding === null ? this : decoded(this, encoding);
  }

  getReader(): ByteReader {
    return this;
  }

  read(): Promise<Piece> {
    return nextPiece(this);
  }

  /** Gives all buffered bytes in one piece. */
  take(receiver: Receiver): void {
    if (this.#queue.length > 0) return receiver.piece(this.#takeQueue());
    this.#receiver = receiver;
    if (this.done) this.#end();
    else if (this.#paused) this.#continue();
  }

  #takeQueue(): Uint8Array {
    const value = joined(this.#queue);
    this.#queue = [];
    this.#queuedBytes = 0;
    if (this.#paused) this.#continue();
    return value;
  }

  #continue(): void {
    this.#paused = false;
    this.#connection?.resume();
  }

  cancel(): Promise<void> {
    this.#queue = [];
    this.#queuedBytes = 0;
    if (!this.done) {
      this.#connection?.abandon(this);
      this.finish();
    }
    return Promise.resolve();
  }

  bytes(): Promise<Uint8Array> {
    const arrived = this.arrived();
    return arrived ? Promise.resolve(arrived) : this.#gather();
  }

  arrived(): Uint8Array | undefined {
    const isHere = this.done && !this.#failure && !this.headers.has("content-encoding");
    return isHere ? this.#takeQueue() : undefined;
  }

  async #gather(): Promise<Uint8Array> {
    const reader = this.body.getReader();
    const pieces: Uint8Array[] = [];
    for (;;) {
      const { done, value } = await reader.read();
      if (done || !value) return joined(pieces);
      pieces.push(value);
      if (this.done && reader === this && !this.#failure && this.#queue.length === 0) return joined(pieces);
    }
  }
}

/** Type of the first frame of an HTTP/2 server (RFC 9113, sections 3.4 and 6.5). */
const SETTINGS = 4;

function notHttp1(bytes: Buffer): HttpError {
  const isHttp2 = bytes[0] === 0 && bytes[3] === SETTINGS;
  return isHttp2
    ? new HttpError("EPROTO", "The answer is HTTP/2.", "head", "http2")
    : malformed("it does not begin with a status line");
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  return pieces.length === 1 ? pieces[0]! : pieces.length === 0 ? NO_BYTES : Buffer.concat(pieces);
}
