/** What weir and a provider send each other for a call, for parts that record it. A call without a tap costs one look. */
import { Slot } from "../../core/slot.ts";
import type { Prepared } from "./lane.ts";
import { type ByteReader, type Piece, type Receiver, takeFrom, type UpstreamResponse } from "./transport.ts";

/** Sees the attempts of a call, one after the other. */
export interface WireTap {
  /** An attempt begins: what was seen is that of an earlier one. */
  sent(prepared: Prepared): void;
  head(response: Pick<UpstreamResponse, "status" | "headers">): void;
  /** The next part of the answer's body, decoded. */
  piece(bytes: Uint8Array): void;
}

/** Set on a call before its first attempt. */
export const wireTap = new Slot<WireTap>();

/** The response, whose body the tap sees as it is read. */
export function tapped(response: UpstreamResponse, tap: WireTap): UpstreamResponse {
  tap.head(response);
  const { status, ok, headers, body } = response;
  const seen = (bytes: Uint8Array) => {
    tap.piece(bytes);
    return bytes;
  };
  return {
    ...{ status, ok, headers },
    body: body && { getReader: () => new TappedReader(body.getReader(), tap) },
    bytes: async () => seen(await response.bytes()),
    arrived() {
      const bytes = response.arrived?.();
      return bytes && seen(bytes);
    },
  };
}

class TappedReader implements ByteReader {
  readonly #inner: ByteReader;
  readonly #tap: WireTap;

  constructor(inner: ByteReader, tap: WireTap) {
    this.#inner = inner;
    this.#tap = tap;
  }

  async read(): Promise<Piece> {
    const piece = await this.#inner.read();
    if (piece.value) this.#tap.piece(piece.value);
    return piece;
  }

  take(receiver: Receiver): void {
    takeFrom(this.#inner, {
      piece: (bytes) => {
        this.#tap.piece(bytes);
        receiver.piece(bytes);
      },
      end: () => receiver.end(),
      fail: (reason) => receiver.fail(reason),
    });
  }

  cancel(reason?: unknown): Promise<void> {
    return this.#inner.cancel(reason);
  }
}
