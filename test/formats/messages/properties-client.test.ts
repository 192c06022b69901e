/** What must hold for every streamed answer. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ChatEvent, FinishKind, FinishReason } from "../../../src/core/events.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { isObject } from "../../../src/core/json.ts";
import { client, dataOf, requestContext, makeRequest, stream, USAGE, writeAnswer, answer } from "./make.ts";
import { accumulate } from "./sdk.ts";
import { withinBudget } from "../../helpers/within-budget.ts";

const own = () =>
  requestContext({
    format: "messages",
    provider: "deepseek",
    model: "deepseek-chat",
    request: makeRequest(),
  });

/** One block of an answer, with its pieces. */
interface Part {
  start: Extract<ChatEvent, { type: "block-start" }>["block"];
  pieces: string[];
  signature?: string;
}

const pieces = fc.array(fc.oneof(fc.string({ maxLength: 6 }), fc.constantFrom(" ", "\n", "é", "😀", '"\\')), {
  maxLength: 4,
});

const jsonPieces: fc.Arbitrary<string[]> = fc
  .tuple(
    fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 }),
    fc.integer({ min: 1, max: 9 }),
  )
  .map(
    ([value, size]) =>
      (JSON.stringify(value).match(new RegExp(`[\\s\\S]{1,${size}}`, "g")) ?? []) as string[],
  );

const textPart: fc.Arbitrary<Part> = pieces.map((given) => ({ start: { type: "text" }, pieces: given }));

const refusalPart: fc.Arbitrary<Part> = pieces.map((given) => ({
  start: { type: "refusal" },
  pieces: given,
}));

const reasoningPart: fc.Arbitrary<Part> = fc.record({
  start: fc.constantFrom<Part["start"]>(
    { type: "reasoning" },
    { type: "reasoning", origin: "anthropic" },
    { type: "reasoning", redacted: "RED" },
  ),
  pieces,
  signature: fc.option(fc.constant("SIG"), { nil: undefined }),
});

const toolPart: fc.Arbitrary<Part> = fc
  .tuple(
    fc.constantFrom("f", "g", " "),
    fc.oneof(jsonPieces, fc.constant<string[]>([])),
    fc.constantFrom("id_1", "id_2", "bad id"),
  )
  .map(([name, given, id]) => ({ start: { type: "tool-call", id, name, kind: "function" }, pieces: given }));

/** Runs of blocks: calls in a row overlap, everything else follows. */
const runs = fc.array(
  fc.oneof(
    textPart.map((part) => [part]),
    refusalPart.map((part) => [part]),
    reasoningPart.map((part) => [part]),
    fc.array(toolPart, { minLength: 1, maxLength: 3 }),
  ),
  { maxLength: 5 },
);

const finish: fc.Arbitrary<FinishReason> = fc.record({
  kind: fc.constantFrom<FinishKind>(
    "stop",
    "stop-sequence",
    "length",
    "tool-calls",
    "content-filter",
    "pause",
  ),
});

/** A legal run of events; `order` says whose piece comes next where calls overlap. */
const answers: fc.Arbitrary<ChatEvent[]> = fc
  .tuple(runs, finish, fc.infiniteStream(fc.nat(2)))
  .map(([groups, reason, order]) => {
    const events: ChatEvent[] = [{ type: "message-start", id: "chatcmpl-9", model: "m" }];
    let index = 0;
    for (const group of groups) {
      const open = group.map((part) => ({ part, index: index++, rest: [...part.pieces] }));
      for (const { part, index: at } of open)
        events.push({ type: "block-start", index: at, block: part.start });
      while (open.some(({ rest }) => rest.length > 0)) {
        const growing = open.filter(({ rest }) => rest.length > 0);
        const { index: at, rest } = growing[order.next().value! % growing.length]!;
        events.push({ type: "block-delta", index: at, delta: rest.shift()! });
      }
      for (const { part, index: at } of open)
        events.push({ type: "block-end", index: at, ...(part.signature && { signature: part.signature }) });
    }
    return [...events, { type: "message-end", reason, usage: USAGE }];
  });

describe("streams to the client", () => {
  test("blocks follow each other, each with one start and one stop, and deltas of its own kind", async () => {
    const kinds: Record<string, string[]> = {
      text: ["text_delta"],
      thinking: ["thinking_delta", "signature_delta"],
      tool_use: ["input_json_delta"],
      redacted_thinking: [],
    };
    await withinBudget(
      fc.asyncProperty(answers, async (events) => {
        let open: { index: number; type: string; signatures: number; blank: boolean } | undefined;
        let next = 0;
        const data = dataOf(stream(events, own()));
        for (const event of data.slice(1, -2)) {
          if (event.type === "content_block_start") {
            expect(open).toBeUndefined();
            expect(event.index).toBe(next);
            open = {
              index: next++,
              type: String((event.content_block as JsonObject).type),
              signatures: 0,
              blank: true,
            };
          } else if (event.type === "content_block_delta") {
            const delta = event.delta as JsonObject;
            expect(event.index).toBe(open!.index);
            expect(kinds[open!.type]).toContain(String(delta.type));
            expect(open!.signatures).toBe(0);
            if (delta.type === "signature_delta") open!.signatures++;
            if (delta.signature !== undefined) expect(delta.signature).not.toBe("");
            if (typeof delta.text === "string" && delta.text.trim() !== "") open!.blank = false;
          } else {
            expect(event).toEqual({ type: "content_block_stop", index: open!.index });
            if (open!.type === "thinking") expect(open!.signatures).toBe(1);
            if (open!.type === "text") expect(open!.blank).toBe(false);
            open = undefined;
          }
        }
        expect(open).toBeUndefined();
        expect(data.map(({ type }) => type).slice(-2)).toEqual(["message_delta", "message_stop"]);
        const reason = (data.at(-2)!.delta as JsonObject).stop_reason;
        const hasCall = data.some(
          ({ content_block }) => isObject(content_block) && content_block.type === "tool_use",
        );
        expect(reason === "tool_use").toBe(hasCall && reason !== "max_tokens");
      }),
    );
  });

  test("the SDK adds every stream up to the JSON answer", async () => {
    await withinBudget(
      fc.asyncProperty(answers, async (events) => {
        // A replaced id is a fresh one in each answer; the same call gives the same.
        const buffered = writeAnswer(events, own());
        const streamed = await accumulate(stream(events, own()));
        expect(streamed.content).toEqual(buffered.content);
        for (const member of ["id", "stop_reason", "stop_sequence", "stop_details", "usage", "model"])
          expect(streamed[member]).toEqual(buffered[member]);
      }),
    );
  });

  test("no text, no reasoning and no argument is lost on the way", async () => {
    await withinBudget(
      fc.asyncProperty(answers, async (events) => {
        const said = (type: string) => {
          const indexes = new Set(
            events.flatMap((event) =>
              event.type === "block-start" && event.block.type === type ? [event.index] : [],
            ),
          );
          return events
            .map((event) => (event.type === "block-delta" && indexes.has(event.index) ? event.delta : ""))
            .join("");
        };
        const data = dataOf(stream(events, own()));
        const written = data
          .map(({ delta }) => (isObject(delta) && typeof delta.text === "string" ? delta.text : ""))
          .join("");
        const hasRefusal = events.some(
          (event) => event.type === "block-start" && event.block.type === "refusal",
        );
        // Blank text at the very end stands in front of nothing.
        if (!hasRefusal) expect(written.trimEnd()).toBe(said("text").trimEnd());
      }),
    );
  });
});
