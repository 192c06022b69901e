/** What a responses client gets of an answer. */
import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../../src/core/error.ts";
import type { ChatEvent } from "../../../src/core/events.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { judgeResponses, judgeWritten, readBySdk } from "../../helpers/judge-responses.ts";
import { writeFrame } from "../../../src/stream/sse.ts";
import { answerContext, answerOf, client, dataOf, outputOf, requestWith, stream } from "./make.ts";

const TEXT = { type: "text" } as const;
const call = (name: string, id = "call_1", kind: "function" | "custom" = "function") =>
  ({ type: "tool-call", id, name, kind }) as const;

const bytesOf = (frames: readonly { event?: string; data: string }[]) =>
  Buffer.from(frames.map((frame) => writeFrame(frame)).join(""));

describe("a text", () => {
  test("is one message with one part, added and done once", () => {
    const frames = stream(answerOf([[TEXT, ["Hel", "lo"]]]));
    expect(dataOf(frames).map(({ type }) => type)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.delta",
      "response.output_text.delta",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed",
    ]);
    expect(judgeResponses(frames)).toEqual([]);
  });

  test("that never gets a character makes no message", () => {
    const answer = client.codec.writeAnswer(answerOf([[TEXT, [""]]]), answerContext());
    expect([answer.status, answer.output]).toEqual(["completed", []]);
  });

  test("in several blocks without anything between is one message", () => {
    const [item, ...others] = outputOf(
      answerOf([
        [TEXT, ["One. "]],
        [TEXT, ["Two."]],
      ]),
    );
    expect(others).toEqual([]);
    expect((item!.content as JsonObject[])[0]!.text).toBe("One. Two.");
  });

  test("after a call is a new message", () => {
    const types = outputOf(
      answerOf([
        [TEXT, ["a"]],
        [call("f"), ["{}"]],
        [TEXT, ["b"]],
      ]),
    ).map(({ type }) => type);
    expect(types).toEqual(["message", "function_call", "message"]);
  });

  test("with a phase is a message of its own, which says it", () => {
    const output = outputOf(
      answerOf([
        [{ type: "text", phase: "commentary" }, ["Looking."]],
        [{ type: "text", phase: "final_answer" }, ["Found."]],
      ]),
    );
    expect(output.map(({ phase }) => phase)).toEqual(["commentary", "final_answer"]);
  });

  test("has its sources as annotations, with the range of their block", () => {
    const events = answerOf([
      [TEXT, ["Intro. "]],
      [TEXT, ["Cited."]],
    ]);
    events.splice(5, 0, { type: "citation", index: 1, citation: { url: "https://a.example", title: "A" } });
    const frames = stream(events);
    expect(judgeResponses(frames)).toEqual([]);
    const done = dataOf(frames).find(({ type }) => type === "response.content_part.done")!;
    expect((done.part as JsonObject).annotations).toEqual([
      { type: "url_citation", start_index: 7, end_index: 13, title: "A", url: "https://a.example" },
    ]);
  });
});

describe("reasoning", () => {
  test("with three parts has them as summary 0, 1 and 2, without the blank lines between", () => {
    const frames = stream(
      answerOf([
        [
          { type: "reasoning" },
          [
            ["a", 0],
            ["\n\nb", 1],
            ["c", 1],
            ["\n\nd", 2],
          ],
          "SIG",
        ],
        [TEXT, ["x"]],
      ]),
    );
    expect(judgeResponses(frames)).toEqual([]);
    const item = dataOf(frames).find(({ type }) => type === "response.output_item.done")!.item as JsonObject;
    expect((item.summary as JsonObject[]).map(({ text }) => text)).toEqual(["a", "bc", "d"]);
  });

  test("carries the signature of the provider back to the provider, and its text to others", () => {
    for (const [block, signature] of [
      [{ type: "reasoning" }, "SIG"],
      [{ type: "reasoning", redacted: "RED" }, undefined],
      [{ type: "reasoning", origin: "anthropic" }, "SIG"],
    ] as const) {
      const [item] = outputOf(answerOf([[block, ["redacted" in block ? "" : "Hm."], signature]]));
      const { turns } = client.codec.decodeRequest({ model: "m", input: [item!] }, answerContext());
      expect(turns[0]!.blocks[0]).toMatchObject({
        type: "reasoning",
        origin: "origin" in block ? block.origin : "deepseek",
        ...("redacted" in block ? { redacted: "RED", text: "" } : { signature: "SIG", text: "Hm." }),
      });
    }
  });

  test("without text and signature is no item", () => {
    expect(outputOf(answerOf([[{ type: "reasoning" }, []]]))).toEqual([]);
  });

  test("with a signature alone is an item without summary", () => {
    const [item] = outputOf(answerOf([[{ type: "reasoning" }, [], "SIG"]]));
    expect(item).toMatchObject({ type: "reasoning", summary: [] });
    expect(item!.encrypted_content).toStartWith("weir1.deepseek.");
  });
});

describe("a call", () => {
  test("keeps its id, and gets another if two calls have the same", () => {
    const output = outputOf(
      answerOf([
        [call("f", "same"), ["{}"]],
        [call("f", "same"), ["{}"]],
      ]),
    );
    expect(output[0]!.call_id).toBe("same");
    expect(output[1]!.call_id).toMatch(/^call_/);
  });

  test("without arguments has an empty object", () => {
    expect(outputOf(answerOf([[call("f"), []]]))[0]!.arguments).toBe("{}");
  });

  test("of a tool in a namespace is split into name and namespace", () => {
    const tools = [{ type: "namespace", name: "docs", tools: [{ type: "function", name: "read" }] }];
    const frames = stream(answerOf([[call("docs__read"), ["{}"]]]), answerContext(requestWith(tools)));
    const added = dataOf(frames).find(({ type }) => type === "response.output_item.added")!.item;
    expect(added).toMatchObject({ type: "function_call", name: "read", namespace: "docs" });
    expect(judgeResponses(frames)).toEqual([]);
  });

  test.each([1, 2, 3, 5, 100])("of a custom tool has its raw input, in pieces of %i", (size) => {
    const tools = [
      { type: "custom", name: "patch", format: { type: "grammar", syntax: "lark", definition: "x" } },
    ];
    const input = '*** Begin\n"quoted" \\ é 😀\n';
    const pieces = JSON.stringify({ input }).match(new RegExp(`[^]{1,${size}}`, "g"))!;
    const frames = stream(answerOf([[call("patch"), pieces]]), answerContext(requestWith(tools)));
    expect(judgeResponses(frames)).toEqual([]);
    const deltas = dataOf(frames).filter(({ type }) => type === "response.custom_tool_call_input.delta");
    expect(deltas.map(({ delta }) => delta).join("")).toBe(input);
    const item = (dataOf(frames).at(-1)!.response as { output: JsonObject[] }).output[0];
    expect(item).toMatchObject({ type: "custom_tool_call", name: "patch", input });
  });

  test.each([
    [
      { type: "local_shell" },
      '{"command":["ls","-l"],"timeout_ms":5}',
      { type: "local_shell_call", action: { type: "exec", command: ["ls", "-l"], env: {}, timeout_ms: 5 } },
    ],
    [
      { type: "shell" },
      '{"commands":["ls"]}',
      { type: "shell_call", action: { commands: ["ls"], timeout_ms: null, max_output_length: null } },
    ],
    [
      { type: "apply_patch" },
      '{"type":"create_file","path":"a","diff":"+x"}',
      { type: "apply_patch_call", operation: { type: "create_file", path: "a", diff: "+x" } },
    ],
    [
      { type: "tool_search", execution: "client", parameters: { type: "object" } },
      '{"query":"mail"}',
      { type: "tool_search_call", execution: "client", arguments: { query: "mail" } },
    ],
  ])("of %p is an item of its own, streamed and whole", (tool, json, item) => {
    const context = () => answerContext(requestWith([tool, { type: "function", name: "f" }]));
    const events = answerOf([[call(String(tool.type)), [json]]]);
    const frames = stream(events, context());
    expect(judgeResponses(frames)).toEqual([]);
    expect(outputOf(events, context())[0]).toMatchObject({ ...item, call_id: "call_1", status: "completed" });
    expect((dataOf(frames).at(-1)!.response as { output: JsonObject[] }).output).toEqual(
      outputOf(events, context()),
    );
  });

  test("whose arguments are not JSON fails a stream before it is done, and is repaired in a JSON answer", () => {
    const events = answerOf(
      [
        [call("f"), ['{"a":']],
        [TEXT, ["x"]],
      ],
      { kind: "tool-calls" },
    );
    const writer = client.codec.writeStream(answerContext());
    const frames = events.slice(0, -1).flatMap((event) => writer.push(event));
    expect(() => writer.push(events.at(-1)!)).toThrow(GatewayError);
    const failure = writer.fail!(new GatewayError("upstream", "Broken."));
    const seen = [...frames, ...failure];
    expect(judgeResponses(seen)).toEqual([]);
    const done = dataOf(seen).filter(({ type }) => type === "response.output_item.done");
    expect(done.map(({ item }) => (item as JsonObject).type)).not.toContain("function_call");
    const context = answerContext();
    expect(() => JSON.parse(String(outputOf(events, context)[0]!.arguments))).not.toThrow();
    expect(context.losses.map(({ code }) => code)).toContain("repaired");
  });
});

describe("an ending", () => {
  test("at the output limit is incomplete, with the reason and the partial items", () => {
    const events = answerOf(
      [
        [TEXT, ["Half"]],
        [call("f"), ['{"a":']],
      ],
      { kind: "length" },
    );
    const frames = stream(events);
    expect(judgeResponses(frames)).toEqual([]);
    const { type, response } = dataOf(frames).at(-1) as { type: string; response: JsonObject };
    expect(type).toBe("response.incomplete");
    expect(response).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
    });
    expect((response.output as JsonObject[]).map(({ status }) => status)).toEqual([
      "completed",
      "incomplete",
    ]);
    expect(client.codec.writeAnswer(events, answerContext()).output).toEqual(response.output!);
  });

  test("by a filter is incomplete, and says what the vendor explained", () => {
    const answer = client.codec.writeAnswer(
      answerOf([], { kind: "content-filter", explanation: "Not this." }),
      answerContext(),
    );
    expect(answer).toMatchObject({
      incomplete_details: { reason: "content_filter" },
      output: [{ type: "message", content: [{ type: "refusal", refusal: "Not this." }] }],
    });
  });

  test("counts tokens with those of the cache inside the input", () => {
    const { usage } = client.codec.writeAnswer(answerOf([[TEXT, ["x"]]]), answerContext());
    expect(usage).toEqual({
      input_tokens: 14,
      input_tokens_details: { cached_tokens: 5, cache_write_tokens: 2 },
      output_tokens: 9,
      output_tokens_details: { reasoning_tokens: 4 },
      total_tokens: 23,
    });
  });

  test("says that weir stored the answer only if it did", () => {
    const ask = (storesAnswer: boolean, isStored?: boolean) => {
      const writer = client.codec.writeStream({ ...answerContext(), storesAnswer });
      const frames = answerOf([[TEXT, ["x"]]]).flatMap((event) => writer.push(event));
      const stored = (frame: { data: string }) => (JSON.parse(frame.data).response as JsonObject).store;
      return [stored(frames[0]!), writer.answer!().store, stored(writer.end({ isStored }).at(-1)!)];
    };
    expect(ask(true, true)).toEqual([true, true, true]);
    expect(ask(true, false)).toEqual([true, true, false]);
    expect(ask(false)).toEqual([false, false, false]);
  });

  test("that never came is an error", () => {
    const writer = client.codec.writeStream(answerContext());
    writer.push({ type: "message-start", id: "x", model: "m" });
    expect(() => writer.end()).toThrow("before the answer was complete");
    expect(() => client.codec.writeAnswer([], answerContext())).toThrow("before the answer was complete");
  });

  test("by a failure repeats what has come, and says how long to wait", () => {
    const writer = client.codec.writeStream(answerContext());
    const events: ChatEvent[] = answerOf([[TEXT, ["Half"]]]).slice(0, 3);
    const frames = events.flatMap((event) => writer.push(event));
    const error = new GatewayError("rate-limited", "Too many requests.", { retryAfter: 3 });
    const seen = [...frames, ...writer.fail!(error)];
    expect(judgeResponses(seen)).toEqual([]);
    const [failed, told] = dataOf(seen).slice(-2);
    expect(told).toMatchObject({ type: "error", code: "rate_limit_exceeded" });
    expect(failed!.response).toMatchObject({
      status: "failed",
      error: { code: "rate_limit_exceeded", message: "Too many requests. Please try again in 3s." },
      output: [{ status: "incomplete", content: [{ text: "Half" }] }],
    });
  });
});

test("a failure before the first event is a whole stream, with and without a writer", async () => {
  const error = new GatewayError("overloaded", "Busy.");
  for (const frames of [
    client.codec.encodeStreamError(error, "req_1", true),
    client.codec.writeStream(answerContext()).fail!(error),
  ]) {
    expect(judgeResponses(frames)).toEqual([]);
    expect(await readBySdk(frames).catch((thrown: unknown) => thrown)).toMatchObject({
      ...{ name: "Error", message: "Busy.", code: "server_is_overloaded" },
    });
  }
});

test("a response repeats the request in the client's words", () => {
  const body = {
    instructions: "Be brief.",
    tools: [{ type: "namespace", name: "n", tools: [{ type: "function", name: "f" }] }],
    metadata: { a: "b" },
    reasoning: { effort: "high" },
    text: { verbosity: "low" },
    previous_response_id: "resp_1",
  };
  const { tools, ...more } = body;
  const answer = client.codec.writeAnswer(answerOf([[TEXT, ["x"]]]), answerContext(requestWith(tools, more)));
  expect(answer).toMatchObject({
    ...body,
    reasoning: { effort: "high", summary: null },
    text: { verbosity: "low", format: { type: "text" } },
    tool_choice: "auto",
  });
});

test("openai's .stream() accepts text, refusal, parallel calls, a custom call and reasoning", async () => {
  const tools = [
    { type: "custom", name: "patch" },
    { type: "function", name: "f" },
  ];
  const events = answerOf([
    [
      { type: "reasoning" },
      [
        ["a", 0],
        ["\n\nb", 1],
      ],
      "SIG",
    ],
    [TEXT, ["Hello"]],
    [call("patch", "c1"), ['{"input":"x"}']],
    [call("f", "c2"), ['{"a":1}']],
    [{ type: "refusal" }, ["No."]],
  ]);
  // Both calls are open at the same time.
  const ends = events.findIndex((event) => event.type === "block-end" && event.index === 2);
  const [end] = events.splice(ends, 1);
  events.splice(
    events.findIndex((event) => event.type === "block-end" && event.index === 3),
    0,
    end!,
  );
  expect(await judgeWritten(bytesOf(stream(events, answerContext(requestWith(tools)))))).toEqual([]);
});
