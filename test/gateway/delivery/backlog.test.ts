/** What stays in memory of an answer that a client does not read. */
import { expect, test } from "bun:test";
import type { Call } from "../../../src/core/call.ts";
import { Backlog, PacedReader } from "../../../src/gateway/delivery/backlog.ts";
import { Clock } from "../../../src/gateway/delivery/clock.ts";
import type { ByteReader } from "../../../src/gateway/lanes/transport.ts";

const CHUNK_BYTES = 512 * 1024;
const PIECE_BYTES = 64 * 1024;

/** A source of one chunk whose bytes count up. */
function sourceOf(length: number): { source: ByteReader; chunk: Uint8Array } {
  const chunk = Uint8Array.from({ length }, (_, at) => at % 251);
  let isRead = false;
  const source: ByteReader = {
    read: () => {
      const piece = isRead ? { done: true } : { done: false, value: chunk };
      isRead = true;
      return Promise.resolve(piece);
    },
    cancel: () => Promise.resolve(),
  };
  return { source, chunk };
}

/** Records what the reader says waits for its client. */
class RecordedBacklog extends Backlog {
  readonly noted: number[] = [];

  override note(reader: PacedReader, bytes: number): void {
    this.noted.push(bytes);
    super.note(reader, bytes);
  }
}

function paced(source: ByteReader, backlog: Backlog): PacedReader {
  return new PacedReader(source, {} as Call, backlog, PIECE_BYTES);
}

test.each([CHUNK_BYTES, CHUNK_BYTES - 1, CHUNK_BYTES + 1, PIECE_BYTES + 1, PIECE_BYTES, 10])(
  "a chunk of %d bytes is given whole and in order, in pieces of a limited size",
  async (length) => {
    const { source, chunk } = sourceOf(length);
    const reader = paced(source, new Backlog(new Clock()));
    const pieces: Uint8Array[] = [];
    for (let piece = await reader.read(); piece.value; piece = await reader.read()) pieces.push(piece.value);
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThanOrEqual(PIECE_BYTES);
    expect(Buffer.concat(pieces).equals(chunk)).toBe(true);
  },
);

test("a piece of a long chunk keeps only itself in memory", async () => {
  const reader = paced(sourceOf(CHUNK_BYTES).source, new Backlog(new Clock()));
  for (let at = 0; at < CHUNK_BYTES; at += PIECE_BYTES)
    expect((await reader.read()).value?.buffer.byteLength).toBe(PIECE_BYTES);
});

test("the bytes that the client has read no longer count as waiting", async () => {
  const backlog = new RecordedBacklog(new Clock());
  const reader = paced(sourceOf(3 * PIECE_BYTES).source, backlog);
  for (let count = 0; count < 3; count++) await reader.read();
  expect(backlog.noted).toEqual([2 * PIECE_BYTES, PIECE_BYTES, 0]);
});

test("no bytes wait after the answer was cancelled", async () => {
  const backlog = new RecordedBacklog(new Clock());
  const reader = paced(sourceOf(3 * PIECE_BYTES).source, backlog);
  await reader.read();
  await reader.cancel();
  expect(backlog.noted).toEqual([2 * PIECE_BYTES, 0]);
  expect((await reader.read()).done).toBe(true);
});
