/**
 * What providers have sent and clients have not read yet. A fast provider fills half a megabyte between two reads; a
 * client that stops reading would keep all of it in memory. The answer is handed on in small pieces, and the bytes that
 * wait behind them are limited in sum.
 */
import { GatewayError } from "../../core/error.ts";
import type { Call } from "../../core/call.ts";
import type { Clock, Watcher } from "./clock.ts";
import type { ByteReader } from "../lanes/transport.ts";

/** Most bytes that are handed on at once, so that this is the most that lies in the buffer of a client's socket. */
const PIECE_BYTES = 64 * 1024;

/** Most bytes that wait for all clients together. */
const MOST_WAITING = 64 * 1024 * 1024;

/** A client that has read something this recently is not cut off, whatever the sum. Milliseconds. */
const IDLE_MS = 1_000;

export class Backlog implements Watcher {
  readonly #clock: Clock;
  readonly #limit: number;
  #bytes = 0;
  /** Bytes that wait, and since when; the reader whose client has been idle for longest comes first. */
  readonly #waiting = new Map<PacedReader, { bytes: number; since: number }>();

  /** @param limit bytes */
  constructor(clock: Clock, limit = MOST_WAITING) {
    this.#clock = clock;
    this.#limit = limit;
  }

  /** Notes that a client has taken a piece, and how many bytes are kept for it now. */
  note(reader: PacedReader, bytes: number): void {
    this.#bytes += bytes - (this.#waiting.get(reader)?.bytes ?? 0);
    this.#waiting.delete(reader);
    if (bytes > 0) this.#waiting.set(reader, { bytes, since: performance.now() });
    if (this.#bytes > this.#limit) this.#clock.add(this);
  }

  /** Cuts off idle clients, the longest idle first, until the others fit. */
  tick(now: number): void {
    for (const [reader, { since }] of this.#waiting) {
      if (this.#bytes <= this.#limit) return this.#clock.remove(this);
      if (now - since < IDLE_MS) return;
      reader.cutOff();
    }
  }
}

/** Hands on the bytes of an answer in pieces of at most 64 KB. */
export class PacedReader implements ByteReader {
  readonly #source: ByteReader;
  readonly #call: Call;
  readonly #backlog: Backlog;
  #rest: Uint8Array | undefined;
  /** Bytes of the piece that `#rest` is a part of; all of it is kept in memory. */
  #kept = 0;

  constructor(source: ByteReader, call: Call, backlog: Backlog) {
    this.#source = source;
    this.#call = call;
    this.#backlog = backlog;
  }

  read(): Promise<{ done: boolean; value?: Uint8Array }> {
    return this.#rest ? Promise.resolve(this.#split(this.#rest)) : this.#source.read().then(this.#onRead);
  }

  cancel(reason?: unknown): Promise<void> {
    this.#drop();
    return this.#source.cancel(reason);
  }

  /** Gives up the answer of a client that does not read it. */
  cutOff(): void {
    this.#drop();
    this.#call.cutOff?.(
      new GatewayError("cancelled", "The client did not read its answer, and other answers need the memory."),
    );
  }

  readonly #onRead = (piece: { done: boolean; value?: Uint8Array }) => {
    const { value } = piece;
    if (!value || value.length <= PIECE_BYTES) return piece;
    this.#kept = value.length;
    return this.#split(value);
  };

  #split(bytes: Uint8Array): { done: boolean; value: Uint8Array } {
    this.#rest = bytes.length > PIECE_BYTES ? bytes.subarray(PIECE_BYTES) : undefined;
    this.#backlog.note(this, this.#rest ? this.#kept : 0);
    return { done: false, value: bytes.subarray(0, PIECE_BYTES) };
  }

  #drop(): void {
    if (!this.#rest) return;
    this.#rest = undefined;
    this.#backlog.note(this, 0);
  }
}
