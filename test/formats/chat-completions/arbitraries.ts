/** Anything an upstream may send, for properties. */
import fc from "fast-check";
import type { ChatEvent } from "../../../src/core/events.ts";
import type { Frame } from "../../../src/core/format.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import type { Traits } from "../../../src/core/provider.ts";
import { readUntilError } from "../../helpers/answer-codecs.ts";
import { chunk, requestContext, makeRequest, upstream } from "./make.ts";

export const anyText = fc.oneof(
  fc.constantFrom("", " ", "\n", "a", "b c", "<think>", "</think>", "END", "{", '{"a":1}', "}"),
  fc.string({ maxLength: 6 }),
);

export const anyFragment = fc.record(
  {
    index: fc.oneof(fc.constantFrom(0, 1, 2), fc.constant(null)),
    id: fc.constantFrom("", "a", "b", "functions.x:0", null),
    type: fc.constantFrom("function", null),
    function: fc.record(
      {
        name: fc.constantFrom("f", "g", "", " ", null),
        arguments: fc.oneof(anyText, fc.constantFrom(null, {}, { a: 1 })),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);

export const anyDetail = fc.constantFrom<JsonObject>(
  { type: "reasoning.text", text: "t", index: 0 },
  { type: "reasoning.text", signature: "s" },
  { type: "reasoning.encrypted", data: "d" },
  { type: "other" },
);

export const anyDelta = fc.record(
  {
    role: fc.constant("assistant"),
    content: fc.oneof(anyText, fc.constant(null), fc.constant([{ type: "text", text: "x" }])),
    reasoning_content: fc.oneof(anyText, fc.constant(null)),
    reasoning_details: fc.array(anyDetail, { maxLength: 2 }),
    refusal: fc.constantFrom("no", null),
    tool_calls: fc.oneof(fc.array(anyFragment, { maxLength: 3 }), fc.constant(null)),
    annotations: fc.constant([{ type: "url_citation", url_citation: { url: "u" } }]),
  },
  { requiredKeys: [] },
);

export const anyFinish = fc.constantFrom(
  null,
  null,
  null,
  "stop",
  "length",
  "tool_calls",
  "",
  "content_filter",
);
export const anyChunk = fc
  .tuple(anyDelta, anyFinish)
  .map(([delta, finish]) => chunk(delta as JsonObject, finish));
export const anyUsage = fc.record({
  prompt_tokens: fc.nat(100),
  completion_tokens: fc.nat(100),
  total_tokens: fc.nat(300),
  prompt_tokens_details: fc.constantFrom({ cached_tokens: 7 }, null),
});

export const anyFrame: fc.Arbitrary<Frame> = fc.oneof(
  { weight: 12, arbitrary: anyChunk.map((body) => ({ data: JSON.stringify(body) })) },
  { weight: 2, arbitrary: anyUsage.map((usage) => ({ data: JSON.stringify({ choices: [], usage }) })) },
);

export const mangledFrame: fc.Arbitrary<Frame> = fc.oneof(
  { weight: 6, arbitrary: anyFrame },
  { weight: 2, arbitrary: fc.json({ maxDepth: 4 }).map((data) => ({ data })) },
  { weight: 1, arbitrary: fc.string().map((data) => ({ data })) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(anyFrame, fc.nat())
      .map(([{ data }, at]) => ({ data: data.slice(0, at % (data.length + 1)) })),
  },
  {
    weight: 1,
    arbitrary: fc
      .json({ maxDepth: 3 })
      .map((json) => ({ data: `{"choices":[{"index":0,"delta":${json},"finish_reason":${json}}]}` })),
  },
  {
    weight: 1,
    arbitrary: fc
      .json({ maxDepth: 3 })
      .map((json) => ({ data: `{"choices":${json},"usage":${json},"id":${json}}` })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Frame>(
      { data: "[DONE]" },
      { event: "error", data: "x" },
      { event: "ping", data: "x" },
    ),
  },
);

export const anyTraits: fc.Arbitrary<Traits> = fc.constantFrom<Traits>({}, { thinkTags: true });
/** The events of frames, and the error they ended in. */
export function readAll(
  frames: readonly Frame[],
  traits: Traits = {},
  stop: string[] = [],
): { events: ChatEvent[]; error?: unknown } {
  const call = requestContext({ model: "gpt-5", traits, request: makeRequest({ stop }) });
  return readUntilError(upstream.codec.readStream(call), frames);
}
