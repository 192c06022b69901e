/** What must hold for every streamed answer. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { GatewayError } from "../../../src/core/error.ts";
import type { ChatEvent, FinishKind } from "../../../src/core/events.ts";
import type { Frame } from "../../../src/core/frame.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { judgeResponses, WRITTEN_TYPES } from "../../helpers/judge-responses.ts";
import { testNightly } from "../../helpers/effort.ts";
import { withinBudget } from "../../helpers/within-budget.ts";
import { answerContext, client, dataOf, requestWith, USAGE } from "./make.ts";

type Start = (ChatEvent & { type: "block-start" })["block"];

const TOOLS = [
  { type: "function", name: "f" },
  { type: "custom", name: "c" },
  { type: "local_shell" },
  {
    type: "namespace",
    name: "n",
    tools: [
      { type: "function", name: "f" },
      { type: "custom", name: "c" },
    ],
  },
];
const REQUEST = requestWith(TOOLS);

interface Block {
  start: Start;
  pieces: { delta: string; part?: number }[];
  signature?: string;
  cites: boolean;
}

const word = fc.oneof(
  fc.string({ maxLength: 6 }),
  fc.constantFrom("", " ", "\n\n", "é", "😀", '"\\', '{"input":"', "{}"),
);

const start: fc.Arbitrary<Start> = fc.oneof(
  fc.constantFrom<Start>(
    { type: "text" },
    { type: "text", phase: "commentary" },
    { type: "refusal" },
    { type: "reasoning" },
    { type: "reasoning", redacted: "RED", origin: "anthropic" },
    { type: "foreign", format: "other", value: { type: "x" } },
  ),
  fc.record({
    type: fc.constant("tool-call" as const),
    id: fc.constantFrom("", "call_1", "a b"),
    name: fc.constantFrom("f", "c", "local_shell", "n__f", "n__c", "unknown", " "),
    kind: fc.constantFrom<("function" | "custom")[]>("function", "custom"),
  }),
);

const block: fc.Arbitrary<Block> = fc.record(
  {
    start,
    pieces: fc.array(fc.record({ delta: word, part: fc.nat(2) }, { requiredKeys: ["delta"] }), {
      maxLength: 5,
    }),
    signature: fc.constantFrom("SIG", ""),
    cites: fc.boolean(),
  },
  { requiredKeys: ["start", "pieces", "cites"] },
);

const KINDS: FinishKind[] = ["stop", "length", "tool-calls", "content-filter", "pause", "stop-sequence"];

/** Events of an answer; consecutive calls overlap. */
function eventsOf(blocks: readonly Block[], kind: FinishKind): ChatEvent[] {
  const events: ChatEvent[] = [{ type: "message-start", id: "x", model: "m" }];
  let ends: ChatEvent[] = [];
  for (const [index, { start: begin, pieces, signature, cites }] of blocks.entries()) {
    if (begin.type !== "tool-call") events.push(...ends.splice(0));
    events.push({ type: "block-start", index, block: begin });
    const isReasoning = begin.type === "reasoning";
    const parts = isReasoning ? pieces.toSorted((a, b) => (a.part ?? 0) - (b.part ?? 0)) : pieces;
    for (const { delta, part } of parts)
      events.push({ type: "block-delta", index, delta, ...(isReasoning && { part: part ?? 0 }) });
    if (cites && begin.type === "text")
      events.push({ type: "citation", index, citation: { url: "https://a.example" } });
    const end: ChatEvent = { type: "block-end", index, ...(isReasoning && signature && { signature }) };
    if (begin.type === "tool-call") ends.push(end);
    else events.push(end);
  }
  return [...events, ...ends, { type: "message-end", reason: { kind }, usage: USAGE }];
}

/** All frames of the answer; those of a failure if the writer refuses it, or after `cut` events. */
function framesOf(events: readonly ChatEvent[], cut?: number): Frame[] {
  const writer = client.codec.writeStream(answerContext(REQUEST));
  const frames: Frame[] = [];
  try {
    for (const event of events.slice(0, cut)) frames.push(...writer.push(event));
    return [...frames, ...writer.end()];
  } catch (thrown) {
    return [...frames, ...writer.fail!(thrown as GatewayError)];
  }
}

const answers = fc.tuple(fc.array(block, { maxLength: 5 }), fc.constantFrom(...KINDS));

test("a stream of any answer follows the life cycle of responses, items and parts", () => {
  withinBudget(
    fc.property(answers, ([blocks, kind]) => {
      expect(judgeResponses(framesOf(eventsOf(blocks, kind)))).toEqual([]);
    }),
  );
});

testNightly("ten thousand streams have only events that openai's .stream() knows", () => {
  const types = new Set<string>();
  fc.assert(
    fc.property(answers, ([blocks, kind]) => {
      for (const { data } of framesOf(eventsOf(blocks, kind)))
        types.add((JSON.parse(data) as { type: string }).type);
    }),
    { numRuns: 10_000, seed: 1 },
  );
  expect([...types].filter((type) => !WRITTEN_TYPES.has(type))).toEqual([]);
  expect(types.size).toBeGreaterThan(20);
});

test("a stream that fails anywhere follows it too, and ends with response.failed and error", () => {
  withinBudget(
    fc.property(answers, fc.nat(30), ([blocks, kind], cut) => {
      const events = eventsOf(blocks, kind).slice(0, -1);
      const frames = framesOf(events, Math.max(1, Math.min(cut, events.length)));
      expect(judgeResponses(frames)).toEqual([]);
      expect(
        dataOf(frames)
          .slice(-2)
          .map(({ type }) => type),
      ).toEqual(["response.failed", "error"]);
    }),
  );
});

test("the output of a stream is that of the JSON answer", () => {
  withinBudget(
    fc.property(answers, ([blocks, kind]) => {
      const events = eventsOf(blocks, kind);
      const end = dataOf(framesOf(events)).at(-1) as { type: string; response: JsonObject };
      if (end.type === "error") return;
      const { output, status } = client.codec.writeAnswer(events, answerContext(REQUEST));
      expect([output, status]).toEqual([end.response.output, end.response.status]);
    }),
  );
});
