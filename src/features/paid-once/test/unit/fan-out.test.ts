/** One answer for several readers: its bytes, its memory, and how fast it is read. */
import { expect, test } from "bun:test";
import { FanOut } from "../../fan-out.ts";
import { Memory, Recording } from "../../memory.ts";
import type { ByteSource } from "../../../../gateway/delivery/stream.ts";
import type { Receiver } from "../../../../gateway/lanes/transport.ts";

const UNLIMITED = new Memory(
  () => Infinity,
  () => false,
);

/** A source that gives its pieces at once, or when it is told to. */
class Pieces implements ByteSource {
  readonly #pieces: Uint8Array[];
  readonly #isPatient: boolean;
  #receiver: Receiver | undefined;
  taken = 0;

  constructor(pieces: Uint8Array[], isPatient = false) {
    this.#pieces = pieces;
    this.#isPatient = isPatient;
  }

  async begin(): Promise<void> {}

  take(receiver: Receiver): void {
    this.taken++;
    this.#receiver = receiver;
    if (!this.#isPatient) this.give();
  }

  give(): void {
    const piece = this.#pieces.shift();
    if (piece) this.#receiver!.piece(piece);
    else this.#receiver!.end();
  }

  stop(): void {}
}

function fanOut(source: ByteSource, most = Infinity, memory = UNLIMITED) {
  const told: string[] = [];
  const fan = new FanOut(source, new Recording(memory, most), {
    overflowed: () => told.push("overflowed"),
    ended: () => told.push("ended"),
    failed: () => told.push("failed"),
  });
  return { fan, told };
}

/** Reads all of it. */
function readAll(fan: FanOut): Promise<string> {
  const place = fan.enter();
  const pieces: Uint8Array[] = [];
  return new Promise((resolve, reject) => {
    const receiver: Receiver = {
      piece(bytes) {
        pieces.push(bytes);
        setImmediate(() => fan.take(place, receiver));
      },
      end: () => resolve(Buffer.concat(pieces).toString()),
      fail: reject,
    };
    fan.take(place, receiver);
  });
}

const numbered = (count: number) => Array.from({ length: count }, (_, at) => Buffer.from(`piece ${at};`));

test("an answer that is read on without a reader does not exhaust the stack", () => {
  const { fan, told } = fanOut(new Pieces(numbered(50_000)));
  fan.drain();
  expect(told).toEqual(["ended"]);
});

test("all readers get all bytes, whenever they begin", async () => {
  const { fan } = fanOut(new Pieces(numbered(500)));
  const whole = Buffer.concat(numbered(500)).toString();
  const early = readAll(fan);
  await Bun.sleep(1);
  const later = readAll(fan);
  expect(await early).toBe(whole);
  expect(await later).toBe(whole);
  expect(await readAll(fan)).toBe(whole);
});

test("the source is read only as far as its fastest reader wants", () => {
  const source = new Pieces(numbered(10));
  const { fan } = fanOut(source);
  const place = fan.enter();
  const ignored: Receiver = { piece() {}, end() {}, fail() {} };
  fan.enter();
  fan.take(place, ignored);
  fan.take(place, ignored);
  expect(source.taken).toBe(2);
});

test("an answer that outgrows its recording goes on in lockstep and gives the memory back", async () => {
  const memory = new Memory(
    () => 64 * 1024,
    () => false,
  );
  const pieces = Array.from({ length: 100 }, (_, at) => Buffer.alloc(4000, 97 + (at % 26)));
  const { fan, told } = fanOut(new Pieces([...pieces]), Infinity, memory);
  const whole = Buffer.concat(pieces).toString();
  const [one, other] = await Promise.all([readAll(fan), readAll(fan)]);
  expect(one === whole && other === whole).toBe(true);
  expect(told).toEqual(["overflowed", "ended"]);
  expect(memory.used).toBe(0);
});

test("a reader that leaves does not stop the others", async () => {
  const source = new Pieces(numbered(3), true);
  const { fan } = fanOut(source);
  const leaving = fan.enter();
  fan.take(leaving, { piece() {}, end() {}, fail() {} });
  const read = readAll(fan);
  fan.leave(leaving);
  for (let turn = 0; turn < 4; turn++) {
    source.give();
    await Bun.sleep(1);
  }
  expect(await read).toBe(Buffer.concat(numbered(3)).toString());
});
