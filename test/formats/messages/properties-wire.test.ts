/** What must hold for every broken wire. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { GatewayError } from "../../../src/core/error.ts";
import type { Frame } from "../../../src/core/format.ts";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { checkBrokenEvents, checkEvents } from "../../helpers/describe-events.ts";
import { readUntilError } from "../../helpers/answer-codecs.ts";
import { client, framesOf, readBody, requestContext, upstream } from "./make.ts";
import { withinBudget } from "../../helpers/within-budget.ts";

describe("broken wires", () => {
  const whole: Frame[] = framesOf([
    { type: "message_start", message: { id: "m", model: "x", usage: { input_tokens: 1, output_tokens: 1 } } },
    {
      type: "content_block_start",
      index: 0,
      content_block: { type: "thinking", thinking: "", signature: "" },
    },
    { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "t" } },
    { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "S" } },
    { type: "content_block_stop", index: 0 },
    { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "a" } },
    { type: "content_block_stop", index: 1 },
    {
      type: "content_block_start",
      index: 2,
      content_block: { type: "tool_use", id: "t", name: "f", input: {} },
    },
    { type: "content_block_delta", index: 2, delta: { type: "input_json_delta", partial_json: "{}" } },
    { type: "content_block_stop", index: 2 },
    { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 5 } },
    { type: "message_stop" },
  ]);

  type Damage = (frames: Frame[]) => Frame[];
  const at = fc.nat(whole.length - 1);
  const damage: fc.Arbitrary<Damage> = fc.oneof(
    at.map(
      (index): Damage =>
        (frames) =>
          frames.filter((_, place) => place !== index),
    ),
    at.map(
      (index): Damage =>
        (frames) =>
          frames.slice(0, index),
    ),
    at.map(
      (index): Damage =>
        (frames) =>
          frames[index] ? frames.toSpliced(index, 0, frames[index]) : frames,
    ),
    fc.tuple(at, at).map(([from, to]): Damage => (frames) => {
      const [moved] = frames.slice(from, from + 1);
      return moved ? frames.toSpliced(from, 1).toSpliced(to, 0, moved) : frames;
    }),
    fc.tuple(at, fc.nat(60)).map(
      ([index, length]): Damage =>
        (frames) =>
          frames.map((frame, place) =>
            place === index ? { ...frame, data: frame.data.slice(0, length) } : frame,
          ),
    ),
    fc.tuple(at, fc.jsonValue({ maxDepth: 2 })).map(
      ([index, value]): Damage =>
        (frames) =>
          frames.map((frame, place) => (place === index ? { ...frame, data: JSON.stringify(value) } : frame)),
    ),
    fc
      .tuple(
        at,
        fc.constantFrom("index", "delta", "content_block", "message", "type", "usage"),
        fc.jsonValue({ maxDepth: 1 }),
      )
      .map(
        ([index, member, value]): Damage =>
          (frames) =>
            frames.map((frame, place) => {
              if (place !== index) return frame;
              try {
                return {
                  ...frame,
                  data: JSON.stringify({ ...(JSON.parse(frame.data) as JsonObject), [member]: value }),
                };
              } catch {
                return frame;
              }
            }),
      ),
  );

  test("mangled frames give a legal run of events or a GatewayError, and an ending only where one was sent", async () => {
    await withinBudget(
      fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 4 }), async (damages) => {
        const frames = damages.reduce((list, harm) => harm(list), whole);
        const { events, error } = readUntilError(upstream.codec.readStream(requestContext()), frames);
        if (error !== undefined) {
          expect(error).toBeInstanceOf(GatewayError);
          checkBrokenEvents(events);
          return;
        }
        checkEvents(events);
        expect(frames.some(({ data }) => data.includes("message_stop") || data.includes("stop_reason"))).toBe(
          true,
        );
      }),
    );
  });

  test("JSON answers of any kind are events with an ending, or a GatewayError; the tap takes them all", () => {
    const anything = fc.jsonValue({ maxDepth: 2 });
    const block = fc.record(
      {
        type: fc.constantFrom("text", "thinking", "redacted_thinking", "tool_use", "x"),
        text: anything,
        thinking: anything,
        signature: anything,
        data: anything,
        id: anything,
        name: anything,
        input: anything,
        citations: anything,
      },
      { requiredKeys: ["type"] },
    );
    const body = fc.record(
      {
        type: fc.constantFrom("message", "error"),
        content: fc.oneof(fc.array(block), anything),
        stop_reason: anything,
        stop_details: anything,
        usage: anything,
        error: anything,
        id: anything,
      },
      { requiredKeys: [] },
    );
    withinBudget(
      fc.property(body, (value) => {
        const answer = value as JsonObject;
        upstream.native.watch.answer(answer, { terminated: false, complete: false });
        upstream.native.watch.frame({ data: JSON.stringify(answer) }, { terminated: false, complete: false });
        try {
          checkEvents(readBody(answer, requestContext()));
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(GatewayError);
        }
      }),
    );
  });

  test("failed answers of any kind are read without failing", () => {
    withinBudget(
      fc.property(
        fc.integer({ min: 400, max: 599 }),
        fc.oneof(fc.json(), fc.string(), fc.constant("<html>")),
        (status, body) => {
          const error = upstream.codec.decodeError(status, new Headers(), body);
          expect(error).toBeInstanceOf(GatewayError);
          expect(error.message).not.toBe("");
          const { status: told, body: written } = client.codec.encodeError(error, "req_1");
          expect(told).toBeGreaterThanOrEqual(400);
          expect(typeof (written.error as JsonObject).message).toBe("string");
        },
      ),
    );
  });

  test("requests of any kind are refused with a path or decoded, and nothing else is thrown", () => {
    // Names every object has would be found in a table that is an object.
    const anything = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.constantFrom<Json>("constructor", { type: "constructor" }, { type: "toString", name: "valueOf" }),
    );
    const block = fc.record(
      {
        type: fc.constantFrom(
          "text",
          "image",
          "document",
          "tool_use",
          "tool_result",
          "thinking",
          "redacted_thinking",
          "constructor",
          "__proto__",
          "search_result",
          "web_search_tool_result",
          "x",
        ),
        text: anything,
        source: anything,
        content: anything,
        id: anything,
        name: anything,
        input: anything,
        tool_use_id: anything,
        thinking: anything,
        signature: anything,
        data: anything,
      },
      { requiredKeys: ["type"] },
    );
    withinBudget(
      fc.property(fc.array(block, { maxLength: 3 }), anything, (content, extra) => {
        const body = {
          model: "m",
          max_tokens: 1,
          messages: [{ role: "user", content }],
          tools: [extra],
          system: extra,
          thinking: extra,
          metadata: extra,
        } as JsonObject;
        const context = requestContext({ format: "messages" });
        try {
          const check: (value: Json) => void = client.request.checkRequest;
          check(body);
          const request = client.codec.decodeRequest(body, context);
          upstream.codec.encodeRequest(request, context);
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(GatewayError);
          expect((thrown as GatewayError).kind).toBe("invalid-request");
        }
      }),
    );
  });
});
