/** AWS event streams: frames of the vendor's own writer, recorded ones, and limits. */
import { describe, expect, test } from "bun:test";
import { EventStreamCodec } from "@smithy/eventstream-codec";
import type { Frame } from "../../src/core/frame.ts";
import { eventStream } from "../../src/stream/framing.ts";
import { awsMessage } from "../helpers/aws-event-stream.ts";
import { answerBytes, haveRecordings, NO_RECORDINGS, recordings } from "../helpers/recordings.ts";

const toUtf8 = (bytes: Uint8Array | string) => Buffer.from(bytes as Uint8Array).toString("utf8");
const fromUtf8 = (text: string) => new Uint8Array(Buffer.from(text));
/** The reader and writer of the AWS SDK. */
const vendor = new EventStreamCodec(toUtf8, fromUtf8);

const text = (value: string) => ({ type: "string" as const, value });

/** Reads a body that arrives in pieces of these sizes, in turn. */
function framesOf(bytes: Uint8Array, sizes: readonly number[]): Frame[] {
  const reader = eventStream().reader();
  const frames: Frame[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const end = at + sizes[turn % sizes.length]!;
    frames.push(...reader.push(bytes.subarray(at, end)));
    at = end;
  }
  return [...frames, ...reader.end()];
}

describe("messages of the AWS SDK's writer are read", () => {
  test("an event with a payload", () => {
    const headers = { ":event-type": text("messageStop"), ":message-type": text("event") };
    const bytes = vendor.encode({ headers, body: fromUtf8('{"stopReason":"end_turn"}') });
    expect(framesOf(bytes, [bytes.length])).toEqual([
      { event: "messageStop", data: '{"stopReason":"end_turn"}' },
    ]);
  });

  test("an exception and an error", () => {
    const exception = vendor.encode({
      headers: { ":exception-type": text("throttlingException"), ":message-type": text("exception") },
      body: fromUtf8('{"message":"Too many requests","originalStatusCode":429}'),
    });
    const error = vendor.encode({
      headers: {
        ":error-code": text("InternalFailure"),
        ":error-message": text("Broken."),
        ":message-type": text("error"),
      },
      body: new Uint8Array(0),
    });
    expect(framesOf(Buffer.concat([exception, error]), [7])).toEqual([
      {
        event: "exception",
        data: '{"originalStatusCode":429,"type":"throttlingException","message":"Too many requests"}',
      },
      { event: "error", data: '{"type":"InternalFailure","message":"Broken."}' },
    ]);
  });

  test("headers of every type are skipped by their size", () => {
    const headers = {
      a: { type: "boolean", value: true },
      b: { type: "boolean", value: false },
      c: { type: "byte", value: -1 },
      d: { type: "short", value: 2 },
      e: { type: "integer", value: 3 },
      g: { type: "binary", value: fromUtf8("bytes") },
      h: { type: "timestamp", value: new Date(0) },
      i: { type: "uuid", value: "00000000-0000-0000-0000-000000000000" },
      ":event-type": text("x"),
    } as const;
    const bytes = vendor.encode({ headers, body: fromUtf8("{}") });
    expect(framesOf(bytes, [bytes.length])).toEqual([{ event: "x", data: "{}" }]);
  });
});

test("the AWS SDK's reader reads the messages that tests write", () => {
  const bytes = awsMessage({ ":event-type": "x", ":message-type": "event" }, '{"ü":1}');
  const { headers, body } = vendor.decode(bytes);
  expect([headers[":event-type"]?.value, toUtf8(body)]).toEqual(["x", '{"ü":1}']);
});

describe("a length that cannot be right is refused before its bytes are awaited (synthetic)", () => {
  const prelude = (total: number, headers: number) => {
    const bytes = Buffer.alloc(12);
    bytes.writeUInt32BE(total >>> 0, 0);
    bytes.writeUInt32BE(headers >>> 0, 4);
    bytes.writeUInt32BE(Bun.hash.crc32(bytes.subarray(0, 8)), 8);
    return bytes;
  };
  const lengths: [string, number, number][] = [
    ["shorter than a message without content", 15, 0],
    ["4 GB", 0xffffffff, 0],
    ["headers longer than the message", 40, 100],
    ["headers longer than AWS allows", 300_000, 200_000],
  ];
  test.each(lengths)("%s", (_what, total, headers) => {
    expect(() => eventStream().reader().push(prelude(total, headers))).toThrow(/invalid length/);
  });
});

if (!haveRecordings) console.log(NO_RECORDINGS);

describe("recorded streams", () => {
  const streams = recordings({ api: "bedrock" })
    .concat(recordings({ api: "bedrock_invoke" }))
    .filter(({ framing }) => framing === "aws-eventstream");

  test.skipIf(!haveRecordings)("are the same frames at every chunking, and those of the AWS SDK", () => {
    let count = 0;
    for (const recording of streams) {
      const bytes = answerBytes(recording);
      const whole = framesOf(bytes, [bytes.length]);
      expect(whole).toEqual(vendorFrames(bytes));
      for (const sizes of [[1], [13, 1, 400, 57]]) expect(framesOf(bytes, sizes)).toEqual(whole);
      count += whole.length;
    }
    expect(count).toBeGreaterThan(1_700);
  });

  function vendorFrames(bytes: Buffer): Frame[] {
    const frames: Frame[] = [];
    for (let at = 0; at < bytes.length;) {
      const length = bytes.readUInt32BE(at);
      const { headers, body } = vendor.decode(bytes.subarray(at, at + length));
      frames.push({ event: String(headers[":event-type"]?.value), data: toUtf8(body) });
      at += length;
    }
    return frames;
  }
});
