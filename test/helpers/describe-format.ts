/**
 * What every format promises, as one suite: a format inherits it by naming itself and its samples. A format that has only one
 * codec runs the part of that codec.
 */
import { describe, expect, test } from "bun:test";
import type { ChatRequest } from "../../src/core/chat.ts";
import { type ErrorKind, GatewayError, STATUS } from "../../src/core/error.ts";
import type { ChatEvent, FinishKind } from "../../src/core/events.ts";
import { NO_USAGE } from "../../src/core/events.ts";
import type { ClientCodec, Format, Frame, StreamSummary, UpstreamCodec } from "../../src/core/format.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { SseParser } from "../../src/stream/sse.ts";
import { readUntilError, writeAll } from "./answer-codecs.ts";
import { type ContextOptions, lossesOf, makeContext, type TestContext } from "./codec-context.ts";
import { checkBrokenEvents, checkEvents } from "./describe-events.ts";
import { describeUpstreamErrors } from "./describe-upstream-errors.ts";
import { fixturesOf } from "./fixtures.ts";
import { isNamed } from "./json-path.ts";
import { schemaFaults } from "./json-schema.ts";
import { IS_LONG } from "./effort.ts";

/** Bodies and streams in the format's own words. */
export interface FormatSamples {
  requests: readonly Sample[];
  answers: readonly Sample[];
  streams: readonly Sample[];
}

interface Sample {
  name: string;
  /** JSON, or the bytes of a stream as text. */
  text: string;
}

/** The samples of a built-in format. */
export function samplesOf(format: string): FormatSamples {
  return {
    requests: fixturesOf("requests", format),
    answers: fixturesOf("answers", format),
    streams: fixturesOf("streams", format),
  };
}

/** @param options the provider's model, name and traits */
export function describeFormat(format: Format, samples: FormatSamples, options: ContextOptions = {}): void {
  const { client, upstream } = format;
  const context = (request?: ChatRequest) => makeContext({ ...options, sameFormat: true, request });
  describe(`the format ${format.id}`, () => {
    if (client) describeClientErrors(client, upstream);
    if (upstream) describeUpstreamErrors(upstream);
    if (client) describeRequests(client, upstream, samples.requests, context);
    if (upstream) describeAnswers(upstream, client, samples, context);
    // No request is translated to an interaction.
    const hasTurns = format.kind === undefined && format.id !== "interactions";
    if (client && upstream) describeCost(client, upstream, context, hasTurns);
  });
}

type MakeContext = (request?: ChatRequest) => TestContext;

/** Rows for `test.each`. */
const rows = (samples: readonly Sample[]) => samples.map(({ name, text }) => [name, text] as const);

const parse = (text: string) => JSON.parse(text) as JsonObject;

function describeRequests(
  client: ClientCodec,
  upstream: UpstreamCodec | undefined,
  samples: readonly Sample[],
  context: MakeContext,
): void {
  const members = Object.keys(client.request.schema.properties as JsonObject);

  function decode(body: JsonObject, of: TestContext): ChatRequest {
    const check: (value: Json) => void = client.request.checkRequest;
    check(body);
    return client.codec.decodeRequest(body, of);
  }

  /** The body for a provider of the same format; undefined if the request is refused. */
  function pass(body: JsonObject): { body: JsonObject; losses: string[] } | undefined {
    const of = context();
    try {
      of.request = decode(body, of);
      return { body: upstream!.codec.encodeRequest(of.request, of), losses: lossesOf(of) };
    } catch (thrown) {
      if (thrown instanceof GatewayError && thrown.kind === "invalid-request") return undefined;
      throw thrown;
    }
  }

  describe("a request", () => {
    test.each(rows(samples))("%s is valid, and decoding it leaves it as it is", (_name, text) => {
      const body = parse(text);
      decode(body, context());
      expect(body).toEqual(parse(text));
    });

    if (upstream)
      test.each(rows(samples))(
        "%s is written for its own format so that a second pass changes nothing",
        (_name, text) => {
          const once = pass(parse(text));
          if (!once) return;
          const twice = pass(structuredClone(once.body));
          expect(twice?.body).toEqual(once.body);
          expect(once.losses).toEqual(expect.arrayContaining(twice!.losses));
        },
      );

    if (upstream)
      test.each(rows(samples))(
        "%s is written with the same bytes each time, and its losses name its members",
        (_name, text) => {
          const [first, second] = [pass(parse(text)), pass(parse(text))];
          expect(JSON.stringify(second)).toBe(JSON.stringify(first));
          const paths = (first?.losses ?? []).map((loss) => loss.slice(loss.indexOf(":") + 1));
          expect(paths.filter((path) => !isNamed(path, parse(text), members))).toEqual([]);
        },
      );
  });
}

/** Sizes of the network reads in which a stream arrives. */
const CHUNKINGS = [1, 3, 7, 64, 1024];

function describeAnswers(
  upstream: UpstreamCodec,
  client: ClientCodec | undefined,
  { answers, streams }: FormatSamples,
  context: MakeContext,
): void {
  const read = (frames: Iterable<Frame>) => readUntilError(upstream.codec.readStream(context()), frames);

  function readBody(body: JsonObject): { events: ChatEvent[]; error?: unknown } {
    try {
      return { events: upstream.codec.readAnswer(body, context()) };
    } catch (error) {
      return { events: [], error };
    }
  }

  describe("an answer", () => {
    test.each(rows(streams))(
      "%s is the same events at every chunking, and they keep all promises",
      (_name, text) => {
        const whole = read(framesOf(text, text.length));
        checkRead(whole);
        for (const size of CHUNKINGS) {
          const { events, error } = read(framesOf(text, size));
          expect([size, events, error]).toEqual([size, whole.events, whole.error]);
        }
      },
    );

    test.each(rows(streams))(
      "%s gets no ending that the provider has not sent, wherever it is cut",
      (_name, text) => {
        const frames = framesOf(text, text.length);
        const whole = read(frames);
        for (let end = 0; end < frames.length; end++) {
          const cut = read(frames.slice(0, end));
          checkRead(cut);
          // Only usage and the terminator may be missing from an answer that counts as complete.
          if (cut.error === undefined) expect(contentOf(cut.events)).toEqual(contentOf(whole.events));
        }
      },
    );

    test.each(rows(streams))(
      "%s, complete in the native lane, is complete in the translated one, and fails there with the same error",
      (_name, text) => {
        const seen: StreamSummary = { terminated: false, complete: false };
        for (const frame of framesOf(text, text.length))
          if (
            upstream.native.watch.marks.some(
              (mark) => frame.data.includes(mark) || frame.event?.includes(mark),
            )
          )
            upstream.native.watch.frame(frame, seen);
        const { error } = read(framesOf(text, text.length));
        // Only the translated lane reads the arguments of tool calls and every frame.
        if (seen.complete && !seen.error && error !== undefined)
          expect(error).toMatchObject({ code: "invalid_tool_arguments" });
        if (seen.error) expect(error).toMatchObject({ kind: seen.error.kind, message: seen.error.message });
      },
    );

    test.each(rows(answers))("%s is events that keep all promises, or an error", (_name, text) => {
      checkRead(readBody(parse(text)));
    });

    if (client)
      test.each([...rows(answers), ...rows(streams)])(
        "%s, written and read again, says the same",
        (_name, text) => {
          const first = isStream(text) ? read(framesOf(text, text.length)) : readBody(parse(text));
          if (first.error !== undefined) return;
          for (const pass of [writeStream, writeWhole]) {
            const once = pass(first.events);
            if (!once) continue;
            expect(contentOf(pass(once)!)).toEqual(contentOf(once));
            // A JSON answer does not contain a call that the output limit cut off.
            if (!endsWith(first.events, "length")) expect(kindsOf(once)).toEqual(kindsOf(first.events));
          }
        },
      );

    const schemas = client?.request.schemas;
    if (schemas)
      test.each([...rows(answers), ...rows(streams)])(
        "%s is written as the schemas of its client codec say",
        (_name, text) => {
          const { events, error } = isStream(text)
            ? read(framesOf(text, text.length))
            : readBody(parse(text));
          if (error !== undefined) return;
          expect(schemaFaults(schemas.answer, client.codec.writeAnswer(events, context(PLAIN)))).toEqual([]);
          for (const { data } of writeAll(client.codec.writeStream(context(PLAIN)), events))
            if (data !== schemas.terminator) expect(schemaFaults(schemas.event, parse(data))).toEqual([]);
        },
      );

    function writeStream(events: readonly ChatEvent[]): ChatEvent[] {
      const { events: again, error } = read(writeAll(client!.codec.writeStream(context(PLAIN)), events));
      if (error !== undefined) throw error;
      return again;
    }

    function writeWhole(events: readonly ChatEvent[]): ChatEvent[] {
      return upstream.codec.readAnswer(client!.codec.writeAnswer(events, context(PLAIN)), context());
    }
  });
}

/** The request of a client that wants to see token counts. */
const PLAIN: ChatRequest = {
  model: "m",
  turns: [{ role: "user", blocks: [{ type: "text", text: "hi" }] }],
  tools: [],
  stop: [],
  stream: true,
  style: { includeUsage: true },
  extra: {},
};

function checkRead({ events, error }: { events: ChatEvent[]; error?: unknown }): void {
  if (error === undefined) return checkEvents(events);
  expect(error).toBeInstanceOf(GatewayError);
  expect((error as GatewayError).message).toMatch(/\S/);
  checkBrokenEvents(events);
}

function isStream(text: string): boolean {
  return !text.startsWith("{");
}

function framesOf(text: string, size: number): Frame[] {
  const parser = new SseParser();
  const bytes = Buffer.from(text);
  const starts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => at * size);
  return starts.flatMap((at) => parser.push(bytes.subarray(at, at + size)));
}

/** Blocks with their text put together, and the reason: what an answer says, without opaque values. */
function contentOf(events: readonly ChatEvent[]): unknown {
  const blocks = new Map<number, { block: object; text: string }>();
  let reason: FinishKind | undefined;
  for (const event of events) {
    if (event.type === "block-start")
      blocks.set(event.index, { block: { ...event.block, redacted: undefined }, text: "" });
    if (event.type === "block-delta") blocks.get(event.index)!.text += event.delta;
    if (event.type === "message-end") reason = event.reason.kind;
  }
  return { blocks: [...blocks.values()], reason };
}

function endsWith(events: readonly ChatEvent[], kind: FinishKind): boolean {
  const last = events.at(-1);
  return last?.type === "message-end" && last.reason.kind === kind;
}

/** The kinds of blocks in order, without those that only one vendor has. */
function kindsOf(events: readonly ChatEvent[]): string[] {
  const starts = events.filter((event) => event.type === "block-start");
  return starts.map(({ block }) => block.type).filter((type) => type !== "foreign");
}

function describeClientErrors(client: ClientCodec, upstream: UpstreamCodec | undefined): void {
  const kinds = Object.keys(STATUS) as ErrorKind[];

  describe("an error for a client", () => {
    test.each(kinds)("%s has a failed status and its sentence, also inside a stream", (kind) => {
      const error = new GatewayError(kind, "What happened.");
      const { status, body } = client.codec.encodeError(error, "req_1");
      expect(status).toBeGreaterThanOrEqual(400);
      expect(JSON.stringify(body)).toContain("What happened.");
      const frames = client.codec.encodeStreamError(error, "req_1");
      expect(frames.map(({ data }) => data).join()).toContain("What happened.");
      if (!client.request.schemas) return;
      const { error: wire, event } = client.request.schemas;
      expect(schemaFaults(wire, body)).toEqual([]);
      for (const written of frames.map(({ data }) => parse(data)))
        expect(Math.min(...[wire, event].map((schema) => schemaFaults(schema, written).length))).toBe(0);
    });

    /** A credential of weir's own and a fault of weir's own are the provider's fault to a client. */
    const passed = kinds.filter((kind) => PASSED.has(kind));
    if (upstream)
      test.each(passed)("%s keeps its kind and sentence for a weir behind another weir", (kind) => {
        const error = new GatewayError(kind, "What happened.", { retryAfter: 7 });
        const { status, headers, body } = client.codec.encodeError(error, "req_1");
        const read = upstream.codec.decodeError(status, new Headers(headers), JSON.stringify(body));
        expect([read.kind, read.message]).toEqual([kind, "What happened."]);
        if (kind === "rate-limited") expect(read.retryAfter).toBe(7);
      });
  });
}

/** Kinds that are about the request or the moment, which the provider and weir use in the same sense. */
const PASSED: ReadonlySet<ErrorKind> = new Set<ErrorKind>([
  "invalid-request",
  "not-found",
  "conflict",
  "too-large",
  "unsupported-media-type",
  "rate-limited",
  "overloaded",
  "timeout",
  "upstream",
]);

/** How much more one input of four times the length may cost than four inputs: linear work as much, quadratic 4 times. */
const GROWTH = 2.75;

function describeCost(
  client: ClientCodec,
  upstream: UpstreamCodec,
  context: MakeContext,
  hasTurns: boolean,
): void {
  /** The time of one run, undisturbed: the shortest of several. Milliseconds. */
  function timeOf(work: () => void): number {
    const times = Array.from({ length: IS_LONG ? 5 : 3 }, () => {
      const began = performance.now();
      work();
      return performance.now() - began;
    });
    return Math.min(...times);
  }

  /** Other programs only ever add to a time, so the shortest times of all tries are compared. */
  function expectLinear(prepare: (size: number) => () => void, size: number): void {
    let [four, one] = [Infinity, Infinity];
    for (let tries = 0; tries < 20; tries++) {
      const [small, large] = [prepare(size), prepare(4 * size)];
      small();
      // As many allocations on both sides: a garbage collection within one of them takes as long as all the work.
      const fourSmall = () => {
        for (let count = 0; count < 4; count++) small();
      };
      one = Math.min(one, timeOf(large));
      four = Math.min(four, timeOf(fourSmall));
      if (one / four < GROWTH) return;
    }
    throw new Error(`One input costs ${(one / four).toFixed(1)} times as much as four of a quarter.`);
  }

  describe("the cost grows no faster than the length", () => {
    const blocks: [string, ChatEvent[]][] = [
      ["a text", [{ type: "block-start", index: 0, block: { type: "text" } }]],
      [
        "the arguments of a tool call",
        [
          {
            type: "block-start",
            index: 0,
            block: { type: "tool-call", id: "c", name: "f", kind: "function" },
          },
        ],
      ],
    ];
    test.each(blocks)("of %s that is written and read in pieces", (_what, start) => {
      expectLinear((size) => {
        const isCall = _what !== "a text";
        const pieces = ['{"a":"', ...Array.from({ length: size }, () => "word "), '"}'];
        const events: ChatEvent[] = [
          { type: "message-start", id: "a", model: "m" },
          ...start,
          ...pieces.map((delta): ChatEvent => ({ type: "block-delta", index: 0, delta })),
          { type: "block-end", index: 0 },
          { type: "message-end", reason: { kind: isCall ? "tool-calls" : "stop" }, usage: NO_USAGE },
        ];
        return () => {
          const frames = writeAll(client.codec.writeStream(context(PLAIN)), events);
          const { error } = readUntilError(upstream.codec.readStream(context()), frames);
          if (error !== undefined) throw error;
          upstream.codec.readAnswer(client.codec.writeAnswer(events, context(PLAIN)), context());
        };
      }, 500);
    });

    // A format of another kind has no conversations.
    test.skipIf(!hasTurns)("of a conversation that is written and read", () => {
      expectLinear((size) => {
        const turns = Array.from({ length: size }, (_, at) => [
          { role: "user" as const, blocks: [{ type: "text" as const, text: `question ${at}` }] },
          { role: "assistant" as const, blocks: [{ type: "text" as const, text: `answer ${at}` }] },
        ]).flat();
        const request: ChatRequest = { ...PLAIN, maxTokens: 10, turns: [...turns, ...PLAIN.turns] };
        return () => {
          const body = upstream.codec.encodeRequest(request, context(request));
          client.codec.decodeRequest(body, context());
        };
      }, 200);
    });
  });
}
