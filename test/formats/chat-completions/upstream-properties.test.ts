/** What has to hold for anything an upstream sends, and for anything that is written and read back. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { GatewayError } from "../../../src/core/error.ts";
import type { BlockStart, ChatEvent, FinishKind } from "../../../src/core/events.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { checkBrokenEvents, checkEvents } from "../../helpers/describe-events.ts";
import {
  chunk,
  chunks,
  client,
  clientCall,
  DONE,
  requestContext,
  messageOf,
  stream,
  upstream,
  writeAnswer,
  readFrames,
  readBody,
} from "./make.ts";
import { accumulate } from "./sdk.ts";
import { anyDelta, anyChunk, anyFrame, mangledFrame, anyTraits, readAll } from "./arbitraries.ts";
import { withinBudget } from "../../helpers/within-budget.ts";

describe("a stream from an upstream", () => {
  test("whatever order things come in, every promise of the events holds", () => {
    withinBudget(
      fc.property(
        fc.array(anyFrame, { maxLength: 12 }),
        anyTraits,
        fc.constantFrom<string[]>([], ["END", "c"]),
        (frames, traits, stop) => {
          const { events, error } = readAll([...frames, DONE], traits, stop);
          if (error === undefined) checkEvents(events);
          else {
            expect(error).toMatchObject({
              code: expect.stringMatching(/^(invalid_tool_arguments|stream_incomplete)$/),
            });
            checkBrokenEvents(events);
          }
        },
      ),
    );
  });

  test("a mangled one ends in a GatewayError or at a real end, and no ending is made up", () => {
    withinBudget(
      fc.property(fc.array(mangledFrame, { maxLength: 10 }), anyTraits, (frames, traits) => {
        const { events, error } = readAll(frames, traits);
        if (error === undefined) {
          checkEvents(events);
          expect(
            frames.some(({ data }) => data.includes("[DONE]") || data.includes("finish_reason")),
          ).toBeTrue();
        } else {
          expect(error).toBeInstanceOf(GatewayError);
          checkBrokenEvents(events);
        }
      }),
    );
  });

  test("cut anywhere before its finish reason it is an error", () => {
    withinBudget(
      fc.property(fc.array(anyDelta, { maxLength: 8 }), (deltas) => {
        const { events, error } = readAll(
          deltas.map((delta) => ({ data: JSON.stringify(chunk(delta as JsonObject)) })),
        );
        expect(error).toMatchObject({ code: "stream_incomplete" });
        checkBrokenEvents(events);
      }),
    );
  });

  test("how the text is cut into chunks does not change the answer", () => {
    const pieces = fc.array(
      fc.tuple(fc.constantFrom("content", "reasoning_content"), fc.stringMatching(/^[a-z ]{1,12}$/)),
      { maxLength: 5 },
    );
    withinBudget(
      fc.property(pieces, (runs) => {
        const whole = runs.map(([field, text]) => chunk({ [field]: text }));
        const single = runs.flatMap(([field, text]) =>
          [...text].map((character) => chunk({ [field]: character })),
        );
        const frames = (bodies: JsonObject[]) =>
          [...bodies, chunk({}, "stop")].map((body) => ({ data: JSON.stringify(body) }));
        expect(merged(readAll(frames(single)).events)).toEqual(merged(readAll(frames(whole)).events));
      }),
    );
  });
});

describe("a JSON answer from an upstream", () => {
  test("mangled, it is a GatewayError or whole", () => {
    const body = fc.oneof(
      anyChunk.map(({ choices, ...rest }) => ({
        ...rest,
        choices: (choices as JsonObject[]).map(({ delta, ...choice }) => ({ ...choice, message: delta })),
      })),
      fc.object({ maxDepth: 4 }),
      fc
        .json({ maxDepth: 3 })
        .map(
          (json) =>
            JSON.parse(
              `{"choices":[${json},{"message":${json},"finish_reason":${json}}],"usage":${json}}`,
            ) as JsonObject,
        ),
    );
    withinBudget(
      fc.property(body, (value) => {
        try {
          checkEvents(readBody(JSON.parse(JSON.stringify(value)) as JsonObject, requestContext()));
        } catch (error) {
          expect(error).toBeInstanceOf(GatewayError);
        }
      }),
    );
  });

  test("a mangled error body is a GatewayError with a sentence", () => {
    const bodies = fc.oneof(
      fc.json({ maxDepth: 5 }),
      fc.string(),
      fc.json({ maxDepth: 3 }).map((json) => `{"error":${json},"code":${json},"detail":${json}}`),
    );
    withinBudget(
      fc.property(fc.integer({ min: 400, max: 599 }), bodies, (status, body) => {
        const error = upstream.codec.decodeError(status, new Headers(), body);
        expect(error).toBeInstanceOf(GatewayError);
        expect(error.message).toMatch(/\S/);
        expect(error.message.length).toBeLessThanOrEqual(2000);
        expect(error.status).toBeGreaterThanOrEqual(400);
      }),
    );
  });
});

/** Answers both faces of the format can say: what the client is sent, an upstream may send as well. */
const anyAnswer: fc.Arbitrary<ChatEvent[]> = fc
  .record({
    reasoning: fc.option(fc.stringMatching(/^\S.{0,8}$/), { nil: undefined }),
    text: fc.option(fc.stringMatching(/^\S.{0,8}$/), { nil: undefined }),
    calls: fc.array(
      fc.tuple(
        fc.constantFrom("f", "g"),
        fc.dictionary(fc.string({ maxLength: 3 }), fc.string({ maxLength: 5 }), { maxKeys: 2 }),
      ),
      { maxLength: 3 },
    ),
    cut: fc.boolean(),
    usage: fc.record({
      input: fc.nat(50),
      cacheRead: fc.nat(50),
      cacheWrite: fc.nat(50),
      output: fc.integer({ min: 9, max: 50 }),
      reasoning: fc.nat(9),
      known: fc.constant("final" as const),
    }),
  })
  .map(({ reasoning, text, calls, cut, usage }) => {
    const starts: [BlockStart, string][] = [];
    if (reasoning !== undefined) starts.push([{ type: "reasoning", origin: "vendor" }, reasoning]);
    if (text !== undefined) starts.push([{ type: "text" }, text]);
    for (const [index, [name, args]] of calls.entries())
      starts.push([{ type: "tool-call", id: `call_${index}`, name, kind: "function" }, JSON.stringify(args)]);
    const kind: FinishKind = cut ? "length" : calls.length > 0 ? "tool-calls" : "stop";
    return [
      { type: "message-start", id: "chatcmpl-1", model: "asked-for" },
      ...starts.flatMap(([block, delta], index): ChatEvent[] => [
        { type: "block-start", index, block },
        { type: "block-delta", index, delta },
        { type: "block-end", index },
      ]),
      {
        type: "message-end",
        reason: { kind, raw: cut ? "length" : calls.length > 0 ? "tool_calls" : "stop" },
        usage,
      },
    ];
  });

describe("what is written can be read again", () => {
  const call = () => clientCall({ style: { includeUsage: true } });

  test("a stream: encode, decode, the same events", () => {
    withinBudget(
      fc.property(anyAnswer, (events) => {
        checkEvents(events);
        const frames = stream(events, call());
        const again = readFrames(frames, requestContext());
        expect(merged(again)).toEqual(merged(events));
      }),
    );
  });

  test("an answer: encode, decode, the same events; and the same as its stream", async () => {
    await withinBudget(
      fc.asyncProperty(anyAnswer, async (events) => {
        const body = writeAnswer(events, call());
        expect(merged(readBody(body, requestContext()))).toEqual(merged(events));
        const { reasoning_content, reasoning_details, ...message } = messageOf(body);
        const { parsed: _, ...streamed } = messageOf(await accumulate(stream(events, call()))) as JsonObject;
        expect(streamed).toMatchObject({ ...message, content: message.content ?? "" });
        expect(chunks(events, call()).at(-1)!.usage).toEqual(body.usage!);
      }),
    );
  });
});

/** Deltas of a block put together, without usage on the way: two runs that say the same are equal. */
function merged(events: readonly ChatEvent[]): ChatEvent[] {
  const result: ChatEvent[] = [];
  for (const event of events) {
    const last = result.at(-1);
    if (event.type === "usage") continue;
    if (event.type === "block-delta" && last?.type === "block-delta" && last.index === event.index)
      last.delta += event.delta;
    else result.push({ ...event });
  }
  return result;
}
