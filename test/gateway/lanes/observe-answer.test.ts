/** What weir observes of a JSON answer does not depend on whether it read the outline or the whole answer. */
import { describe, expect, test } from "bun:test";
import type { StreamObserver, StreamSummary } from "../../../src/core/format.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { chatCompletionsFormat } from "../../../src/formats/chat-completions/index.ts";
import { messagesFormat } from "../../../src/formats/messages/index.ts";
import { observeAnswer } from "../../../src/gateway/lanes/observe-answer.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

/** Longer than what weir parses at once. */
const LONG = 'A "quoted" line with a ü, a \\ and an emoji 😀\n'.repeat(100);

function completion(more: JsonObject = {}, choice: JsonObject = {}): JsonObject {
  const message = { role: "assistant", content: LONG, refusal: null };
  return {
    id: "c1",
    object: "chat.completion",
    choices: [{ index: 0, message, finish_reason: "stop", ...choice }],
    usage: { prompt_tokens: 9, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 4 } },
    ...more,
  };
}

function message(more: JsonObject = {}): JsonObject {
  return {
    type: "message",
    role: "assistant",
    content: [{ type: "text", text: LONG }],
    stop_reason: "end_turn",
    usage: { input_tokens: 9, output_tokens: 5, service_tier: "standard" },
    ...more,
  };
}

const COMPLETIONS: Record<string, JsonObject> = {
  plain: completion(),
  "a tier of several words": completion({ service_tier: "on-demand tier of this vendor, with a long name" }),
  "counts in x_groq": completion({
    usage: null,
    x_groq: { usage: { prompt_tokens: 3, completion_tokens: 4 } },
  }),
  "counts in a choice": completion(
    { usage: null },
    { usage: { prompt_tokens: 3, completion_tokens: 4, cached_tokens: 1 } },
  ),
  "a finish reason in capitals": completion({}, { finish_reason: "MAX_TOKENS" }),
  "a tool call": completion({}, { finish_reason: "tool_calls" }),
  "no finish reason": completion({}, { finish_reason: null }),
  "a stop sequence": completion({}, { stop_reason: "</END>" }),
  "two equal choices": completion({
    choices: [1, 2].map(() => ({ message: { content: LONG }, finish_reason: "stop" })),
  }),
  "a second choice that was cut off": completion({
    choices: ["stop", null].map((finish_reason, index) => ({
      index,
      finish_reason,
      message: { content: LONG },
    })),
  }),
  "no choices": completion({ choices: [] }),
  "an error beside nothing": { error: { message: LONG, type: "server_error", code: null } },
  "an error as text": { error: LONG },
  "an error beside choices": completion({ error: { message: LONG } }),
  "an empty error": completion({ error: "" }),
  "a bare message": { message: LONG, code: 400 },
  "a detail": { detail: [{ loc: ["body"], msg: LONG }] },
  "another object": { hello: LONG },
  "deep content": completion({ extra: JSON.parse("[".repeat(80) + "]".repeat(80)) }),
};

const MESSAGES: Record<string, JsonObject> = {
  plain: message(),
  "a region with a hyphen": message({
    usage: { input_tokens: 1, output_tokens: 2, inference_geo: "eu-west-1", speed: "Fast" },
  }),
  "a stop sequence": message({ stop_reason: "stop_sequence", stop_sequence: "</END>" }),
  "a refusal with its reason": message({ stop_reason: "refusal", stop_details: { explanation: LONG } }),
  "an unknown stop reason": message({ stop_reason: `because-${LONG}` }),
  "cached for an hour": message({
    usage: {
      input_tokens: 1,
      output_tokens: 2,
      cache_creation_input_tokens: 7,
      cache_creation: { ephemeral_1h_input_tokens: 7 },
    },
  }),
  "an error": { type: "error", error: { type: "overloaded_error", message: LONG } },
  "another object": { hello: LONG },
};

/** The summary of the parsed answer, as a record of what can be compared. */
function wholly(watch: StreamObserver, answer: JsonObject): unknown {
  const seen: StreamSummary = { terminated: false, complete: false };
  watch.answer(answer, seen);
  return comparable(seen);
}

function comparable(seen: StreamSummary | undefined): unknown {
  const { finish, error } = seen!;
  return {
    ...seen,
    finish: finish && [finish.kind, finish.raw],
    error: error && [error.code, error.message],
  };
}

for (const [name, watch, answers] of [
  ["chat-completions", chatCompletionsFormat.upstream.native.watch, COMPLETIONS],
  ["messages", messagesFormat.upstream.native.watch, MESSAGES],
] as const)
  describe(name, () => {
    for (const indent of [0, 2])
      test.each(Object.entries(answers))(
        `%s is observed as if it was parsed (indent ${indent})`,
        (_, answer) => {
          const text = JSON.stringify(answer, null, indent);
          expect(comparable(observeAnswer(bytes(text), watch))).toEqual(wholly(watch, answer));
        },
      );

    test("a plain answer is not parsed", () => {
      const read: JsonObject[] = [];
      const spy: StreamObserver = {
        ...watch,
        answer: (body, seen) => (read.push(body), watch.answer(body, seen)),
      };
      observeAnswer(bytes(JSON.stringify(answers["plain"])), spy);
      expect(read).toHaveLength(1);
      expect(JSON.stringify(read[0]).length).toBeLessThan(1_000);
    });

    test("the message of an error that calls itself a success is whole", () => {
      const text = JSON.stringify({ type: "error", error: { type: "server_error", message: LONG } });
      expect(observeAnswer(bytes(text), watch)!.error!.message).toContain('A "quoted" line with a ü');
    });

    test("an answer that was cut at any byte is no answer", () => {
      const text = bytes(JSON.stringify(answers["plain"]));
      for (
        let length = 0;
        length < text.length;
        length += length > 200 && length < text.length - 300 ? 97 : 1
      )
        expect(observeAnswer(text.subarray(0, length), watch)).toBeUndefined();
    });

    test.each([
      ["HTML", `<!doctype html><html><body>${LONG}</body></html>`],
      ["text", LONG],
      ["a list", JSON.stringify([answers["plain"]])],
      ["a string", JSON.stringify(LONG)],
      ["bytes behind the object", `${JSON.stringify(answers["plain"])}{}`],
      ["a stream", `data: ${JSON.stringify(answers["plain"])}\n\n`],
      ["an invalid escape", JSON.stringify(answers["plain"]).replace("\\n", "\\x")],
      ["a bare line feed in a string", JSON.stringify(answers["plain"]).replace("\\n", "\n")],
      ["a missing comma", JSON.stringify(answers["plain"]).replace('","', '""')],
      ["a word that is no value", JSON.stringify(answers["plain"]).replace(/:(\d)/, ":no$1")],
      ["nothing", ""],
    ])("%s is no answer", (_, text) => {
      expect(observeAnswer(bytes(text), watch)).toBeUndefined();
    });
  });

test("a format that does not say so is not judged by the outline", () => {
  const answer = completion();
  const read: JsonObject[] = [];
  const watch: StreamObserver = {
    marks: [],
    frame() {},
    answer(body, seen) {
      read.push(body);
      seen.terminated = true;
    },
  };
  observeAnswer(bytes(JSON.stringify(answer)), watch);
  expect(read).toEqual([answer]);
});
