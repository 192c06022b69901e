/** Each framing gives the same frames at every chunking, and reports a body that ends inside a frame. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { GatewayError } from "../../src/core/error.ts";
import type { Frame, Framing } from "../../src/core/frame.ts";
import { eventStream, jsonArray, jsonLines } from "../../src/stream/framing.ts";
import { isStream, parseFrames, ReframedReader } from "../../src/stream/sse.ts";
import { awsMessage } from "../helpers/aws-event-stream.ts";
import { withinBudget } from "../helpers/within-budget.ts";

/** The frames of a body that arrives in these pieces, and the code of the error at which reading ends, if any. */
function read(
  framing: Framing,
  bytes: Uint8Array,
  cuts: readonly number[],
): { frames: Frame[]; fault?: string } {
  const reader = framing.reader();
  const frames: Frame[] = [];
  const places = [...new Set(cuts.map((cut) => Math.min(cut, bytes.length)))].sort((a, b) => a - b);
  let from = 0;
  try {
    for (const to of [...places, bytes.length]) {
      frames.push(...reader.push(bytes.subarray(from, to)));
      from = to;
    }
    frames.push(...reader.end());
    return { frames };
  } catch (fault) {
    expect(fault).toBeInstanceOf(GatewayError);
    return { frames, fault: (fault as GatewayError).code };
  }
}

const text = (content: string) => new TextEncoder().encode(content);
const event = (type: string, payload: string) =>
  awsMessage({ ":event-type": type, ":content-type": "application/json", ":message-type": "event" }, payload);

const EVENT_STREAM = Buffer.concat([
  event("messageStart", '{"role":"assistant"}'),
  event("contentBlockDelta", '{"delta":{"text":"grüße 😀"},"p":"abc"}'),
  awsMessage(
    { ":message-type": "exception", ":exception-type": "throttlingException" },
    '{"message":"Too many requests"}',
  ),
  awsMessage({ ":message-type": "error", ":error-code": "500", ":error-message": "broken" }, ""),
]);

const CASES: readonly [name: string, framing: Framing, body: Uint8Array, frames: Frame[]][] = [
  [
    "JSON lines",
    jsonLines,
    text('{"a":"grüße 😀"}\r\n\n{"b":"\\n"}\n{"c":3}'),
    [{ data: '{"a":"grüße 😀"}' }, { data: '{"b":"\\n"}' }, { data: '{"c":3}' }],
  ],
  [
    "a JSON array",
    jsonArray,
    text(' [{"a":"]},\\"😀"}\r\n,\n {"b":[1,{"c":[]}]},"x",5 ] \n'),
    [{ data: '{"a":"]},\\"😀"}' }, { data: '{"b":[1,{"c":[]}]}' }, { data: '"x"' }, { data: "5" }],
  ],
  ["an empty JSON array", jsonArray, text("[ ]"), []],
  [
    "an AWS event stream",
    eventStream(),
    EVENT_STREAM,
    [
      { event: "messageStart", data: '{"role":"assistant"}' },
      { event: "contentBlockDelta", data: '{"delta":{"text":"grüße 😀"},"p":"abc"}' },
      { event: "exception", data: '{"type":"throttlingException","message":"Too many requests"}' },
      { event: "error", data: '{"type":"500","message":"broken"}' },
    ],
  ],
  [
    "an AWS event stream with events inside its payloads",
    eventStream({ unwrap: "bytes" }),
    Buffer.concat([
      event("chunk", JSON.stringify({ bytes: Buffer.from('{"type":"ping","x":"ü"}').toString("base64") })),
      event("chunk", JSON.stringify({ bytes: Buffer.from('{"choices":[]}').toString("base64"), p: "abc" })),
      awsMessage({ ":message-type": "exception", ":exception-type": "x" }, '{"message":"no"}'),
    ]),
    [
      { event: "ping", data: '{"type":"ping","x":"ü"}' },
      { data: '{"choices":[]}' },
      { event: "error", data: '{"type":"error","error":{"type":"x","message":"no"}}' },
    ],
  ],
];

for (const [name, framing, body, frames] of CASES) {
  test(`${name}: the frames, whole, at every cut and byte by byte`, () => {
    expect(read(framing, body, [])).toEqual({ frames });
    for (let at = 0; at <= body.length; at++) expect(read(framing, body, [at])).toEqual({ frames });
    expect(read(framing, body, [...body.keys()])).toEqual({ frames });
  });

  test(`${name}: a cut body gives the frames before the cut, and never an end that looks complete`, () => {
    for (let length = 0; length < body.length; length++) {
      const cut = body.subarray(0, length);
      const whole = read(framing, cut, []);
      expect(whole.frames).toEqual(frames.slice(0, whole.frames.length));
      if (whole.frames.length < frames.length && !endsBetweenFrames(framing, cut))
        expect([length, whole.fault]).toEqual([length, "stream_incomplete"]);
      expect(read(framing, cut, [...cut.keys()])).toEqual(whole);
    }
  });
}

/** JSON lines and messages of AWS have no mark of their end; between two of them the codec decides. */
function endsBetweenFrames(framing: Framing, cut: Uint8Array): boolean {
  if (framing.contentType === jsonArray.contentType) return false;
  const { frames, fault } = read(framing, cut, []);
  return fault === undefined && read(framing, cut, [...cut.keys()]).frames.length === frames.length;
}

test("JSON values survive every chunking of both JSON framings", () => {
  withinBudget(
    fc.property(fc.array(fc.jsonValue(), { maxLength: 8 }), fc.array(fc.nat(400)), (values, cuts) => {
      const lines = text(values.map((value) => `${JSON.stringify(value)}\n`).join(""));
      const array = text(JSON.stringify(values, null, 2));
      const parsed = ({ frames }: { frames: Frame[] }) =>
        frames.map(({ data }) => JSON.stringify(JSON.parse(data)));
      const expected = values.map((value) => JSON.stringify(value));
      expect(parsed(read(jsonLines, lines, cuts))).toEqual(expected);
      expect(parsed(read(jsonArray, array, cuts))).toEqual(expected);
    }),
  );
});

describe("an AWS event stream with a fault", () => {
  const good = event("messageStart", "{}");
  const faultOf = (bytes: Uint8Array) => read(eventStream(), bytes, []);

  test("any changed byte is found", () => {
    for (let at = 0; at < good.length; at++) {
      const changed = Buffer.from(good);
      changed[at]! ^= 1;
      expect([at, faultOf(changed).fault]).toEqual([at, "upstream_invalid_answer"]);
    }
  });

  test("the messages before it count", () => {
    const changed = Buffer.concat([good, good]);
    changed[changed.length - 6]! ^= 1;
    const found = { frames: [{ event: "messageStart", data: "{}" }], fault: "upstream_invalid_answer" };
    expect(faultOf(changed)).toEqual(found);
    for (let at = 0; at <= changed.length; at++) expect(read(eventStream(), changed, [at])).toEqual(found);
  });

  test("a length beyond the limits of AWS is refused before its bytes are awaited", () => {
    for (const [total, headers] of [
      [25 * 1024 * 1024, 0],
      [1024 * 1024, 200 * 1024],
      [15, 0],
      [100, 90],
    ] as const) {
      const prelude = Buffer.alloc(12);
      prelude.writeUInt32BE(total, 0);
      prelude.writeUInt32BE(headers, 4);
      prelude.writeUInt32BE(Bun.hash.crc32(prelude.subarray(0, 8)), 8);
      expect(faultOf(prelude).fault).toBe("upstream_invalid_answer");
    }
  });

  test("headers of other types are skipped", () => {
    const types = Buffer.from([
      ...[1, 97, 0, 1, 98, 1, 1, 99, 2, 0, 1, 100, 3, 0, 0, 1, 101, 4, 0, 0, 0, 0],
      ...[1, 102, 5, 0, 0, 0, 0, 0, 0, 0, 0, 1, 103, 6, 0, 2, 0, 0, 1, 104, 8, 0, 0, 0, 0, 0, 0, 0, 0],
      ...[1, 105, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    ]);
    const message = awsMessage({ ":event-type": "x", ":message-type": "event" }, "{}", types);
    expect(faultOf(message)).toEqual({ frames: [{ event: "x", data: "{}" }] });
  });
});

test("a body that is no array, or goes on after it, is refused", () => {
  for (const body of ['{"a":1}', "x", "[1] x", "[1][2]"])
    expect([body, read(jsonArray, text(body), []).fault]).toEqual([body, "upstream_invalid_answer"]);
});

test("as server-sent events the frames are the same, also with line breaks between tokens", async () => {
  const pieces = [text('[{"a":\n 1}\r\n,{'), text('"b":2}]')];
  let cancelled = false;
  const inner = {
    read: () => Promise.resolve(pieces.length > 0 ? { done: false, value: pieces.shift()! } : { done: true }),
    cancel: () => Promise.resolve(void (cancelled = true)),
  };
  const reader = new ReframedReader(inner, jsonArray);
  const frames: Frame[] = [];
  for (let piece = await reader.read(); piece.value; piece = await reader.read())
    frames.push(...parseFrames(piece.value));
  expect(frames).toEqual([{ data: '{"a":  1}' }, { data: '{"b":2}' }]);
  await reader.cancel();
  expect(cancelled).toBe(true);
});

test("the content type says whether an answer is a stream, except for JSON", () => {
  expect(isStream("text/event-stream; charset=utf-8", undefined, false)).toBe(true);
  expect(isStream("application/json", undefined, true)).toBe(false);
  expect(isStream("application/x-ndjson", jsonLines, false)).toBe(true);
  expect(isStream("application/json; charset=utf-8", jsonLines, true)).toBe(false);
  expect(isStream("application/json", jsonArray, true)).toBe(true);
  expect(isStream("application/json", jsonArray, false)).toBe(false);
  expect(isStream("text/event-stream", jsonArray, true)).toBe(false);
});
