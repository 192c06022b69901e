/** Frames in every cut, and what a host must not send. */
import { expect, test } from "bun:test";
import {
  encodeFrame,
  type Message,
  FrameReader,
  ProtocolFault,
  TEXT,
} from "../../src/http/web-socket-frames.ts";

/** A frame as a host writes it. */
function hostFrame(first: number, payload: Buffer): Buffer {
  const { length } = payload;
  const header =
    length < 126 ? Buffer.from([first, length]) : length < 65_536 ? Buffer.alloc(4) : Buffer.alloc(10);
  if (length >= 126) header[0] = first;
  if (length >= 126 && length < 65_536) {
    header[1] = 126;
    header.writeUInt16BE(length, 2);
  } else if (length >= 65_536) {
    header[1] = 127;
    header.writeBigUInt64BE(BigInt(length), 2);
  }
  return Buffer.concat([header, payload]);
}

function readAll(bytes: Buffer, cut: number, most = 1_000_000): Message[] {
  const reader = new FrameReader(most);
  const messages: Message[] = [];
  for (let at = 0; at < bytes.length; at += cut) {
    reader.add(bytes.subarray(at, at + cut));
    for (let next = reader.next(); next; next = reader.next()) messages.push(next);
  }
  return messages;
}

const texts = ["", "ä", "x".repeat(125), "y".repeat(126), "🙂".repeat(20_000)];

test.each([1, 2, 3, 7, 1_000, 1_000_000])(
  "frames that arrive in pieces of %d bytes are the same messages",
  (cut) => {
    const bytes = Buffer.concat(texts.map((text) => hostFrame(0x81, Buffer.from(text))));
    expect(readAll(bytes, cut).map(({ payload }) => payload.toString())).toEqual(texts);
  },
);

test("a message in several frames is one, with a ping in between", () => {
  const bytes = Buffer.concat([
    hostFrame(0x01, Buffer.from([0xc3])),
    hostFrame(0x89, Buffer.from("p")),
    hostFrame(0x80, Buffer.from([0xa4])),
  ]);
  expect(readAll(bytes, 2).map(({ opcode, payload }) => [opcode, payload.toString()])).toEqual([
    [9, "p"],
    [TEXT, "ä"],
  ]);
});

test.each([
  ["a masked frame", Buffer.from([0x81, 0x80, 0, 0, 0, 0]), 1002],
  ["a frame of an extension", hostFrame(0xc1, Buffer.from("x")), 1002],
  ["an unknown opcode", hostFrame(0x83, Buffer.from("x")), 1002],
  ["a ping of 126 bytes", hostFrame(0x89, Buffer.alloc(126)), 1002],
  ["a ping in pieces", hostFrame(0x09, Buffer.from("x")), 1002],
  ["a continuation of nothing", hostFrame(0x80, Buffer.from("x")), 1002],
  ["a text that is no UTF-8", hostFrame(0x81, Buffer.from([0xff])), 1007],
  ["a message beyond the limit", hostFrame(0x81, Buffer.alloc(2_000)), 1009],
] as const)("%s breaks the protocol", (_name, bytes, code) => {
  let fault: unknown;
  try {
    readAll(bytes, 1_000_000, 1_000);
  } catch (thrown) {
    fault = thrown;
  }
  expect(fault).toBeInstanceOf(ProtocolFault);
  expect((fault as ProtocolFault).code).toBe(code);
});

test("a frame for the host is masked by a key of its own", () => {
  const payload = Buffer.from("the same text");
  const [one, two] = [encodeFrame(TEXT, payload), encodeFrame(TEXT, payload)];
  expect(one.equals(two)).toBe(false);
  const unmasked = (frame: Buffer) => frame.subarray(6).map((byte, at) => byte ^ frame[2 + (at & 3)]!);
  expect(Buffer.from(unmasked(one)).toString()).toBe("the same text");
  expect(encodeFrame(TEXT, Buffer.alloc(70_000)).length).toBe(2 + 8 + 4 + 70_000);
});
