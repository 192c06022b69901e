/**
 * Limits the memory for bytes that providers have sent and clients have not read. One read from a fast provider gives up to
 * half a megabyte. weir copies it into small pieces, so that only the pieces that the client has not read stay in memory, and
 * limits their sum over all clients.
 */
import { GatewayError } from "../../core/error.ts";
import type { Call } from "../../core/call.ts";
import type { Clock, Watcher } from "./clock.ts";
import type { ByteReader, Piece, Receiver } from "../lanes/transport.ts";
import { nextPiece, takeFrom } from "../lanes/transport.ts";

/** Size of a piece in bytes: in the native lane also the most that waits in the buffer of a client's socket. */
const PIECE_BYTES = 64 * 1024;

/** Limit of the bytes that wait, over all clients. */
const MAX_WAITING_BYTES = 48 * 1024 * 1024;

/** weir does not disconnect a client that has read something within this time. Milliseconds. */
const IDLE_MS = 1_000;

export class Backlog implements Watcher {
  place: number | undefined = undefined;
  readonly #clock: Clock;
  readonly #limit: number;
  #bytes = 0;
  /** The waiting bytes and the time of the last read; the reader whose client has been idle longest is first. */
  readonly #waiting = new Map<PacedReader, { bytes: number; since: number }>();

  /** @param limit bytes */
  constructor(clock: Clock, limit = MAX_WAITING_BYTES) {
    this.#clock = clock;
    this.#limit = limit;
  }

  /** Records that a client has taken a piece. @param bytes how many bytes wait for it now */
  note(reader: PacedReader, bytes: number): void {
    this.#bytes += bytes - (this.#waiting.get(reader)?.bytes ?? 0);
    this.#waiting.delete(reader);
    if (bytes > 0) this.#waiting.set(reader, { bytes, since: performance.now() });
    if (this.#bytes > this.#limit) this.#clock.add(this);
  }

  /** Disconnects idle clients, the longest idle first, until the rest is within the limit. */
  tick(now: number): void {
    for (const [reader, { since }] of this.#waiting) {
      if (this.#bytes <= this.#limit) return this.#clock.remove(this);
      if (now - since < IDLE_MS) return;
      reader.cutOff();
    }
  }
}

/** Reads an answer in pieces of a limited size. */
export class PacedReader implements ByteReader, Receiver {
  readonly #source: ByteReader;
  readonly #call: Call;
  readonly #backlog: Backlog;
  readonly #pieceBytes: number;
  #receiver: Receiver | undefined;
  /** Pieces of the last chunk that were not read yet, the next one last. */
  #rest: Uint8Array[] = [];
  #restBytes = 0;

  /** @param pieceBytes the most that one read gives */
  constructor(source: ByteReader, call: Call, backlog: Backlog, pieceBytes = PIECE_BYTES) {
    this.#source = source;
    this.#call = call;
    this.#backlog = backlog;
    this.#pieceBytes = pieceBytes;
  }

  read(): Promise<Piece> {
    return nextPiece(this);
  }

  take(receiver: Receiver): void {
    if (this.#rest.length > 0) return receiver.piece(this.#next());
    this.#receiver = receiver;
    takeFrom(this.#source, this);
  }

  /** The source gives a piece. */
  piece(bytes: Uint8Array): void {
    if (bytes.length <= this.#pieceBytes) return this.#receiver!.piece(bytes);
    this.#split(bytes);
    this.#receiver!.piece(this.#next());
  }

  end(): void {
    this.#receiver!.end();
  }

  fail(reason: unknown): void {
    this.#receiver!.fail(reason);
  }

  cancel(reason?: unknown): Promise<void> {
    this.#drop();
    return this.#source.cancel(reason);
  }

  /** Disconnects a client that does not read its answer. */
  cutOff(): void {
    this.#drop();
    this.#call.cutOff?.(
      new GatewayError(
        "cancelled",
        "The client stopped reading its answer, and weir needed the memory for other answers.",
      ),
    );
  }

  /** Copies the pieces: a view of one would keep the whole chunk in memory. */
  #split(bytes: Uint8Array): void {
    const size = this.#pieceBytes;
    const last = Math.floor((bytes.length - 1) / size) * size;
    for (let at = last; at >= 0; at -= size) this.#rest.push(new Uint8Array(bytes.subarray(at, at + size)));
    this.#restBytes = bytes.length;
  }

  #next(): Uint8Array {
    const piece = this.#rest.pop()!;
    this.#restBytes -= piece.length;
    this.#backlog.note(this, this.#restBytes);
    return piece;
  }

  #drop(): void {
    if (this.#rest.length === 0) return;
    this.#rest = [];
    this.#restBytes = 0;
    this.#backlog.note(this, 0);
  }
}
