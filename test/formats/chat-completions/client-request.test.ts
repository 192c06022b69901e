import { describe, expect, test } from "bun:test";
import type { Block } from "../../../src/core/chat.ts";
import { legacyCallId } from "../../../src/core/ids.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { wrap } from "../../../src/core/provenance.ts";
import { decode, failure } from "./make.ts";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const PDF = Buffer.from("%PDF-1.7\n").toString("base64");

const turnsOf = (...messages: JsonObject[]) => decode({ messages }).turns;
/** The blocks of one user message with these parts. */
const blocksOf = (...content: JsonObject[]): Block[] => turnsOf({ role: "user", content })[0]!.blocks;
const call = (id: string | undefined, name: string, args: string = "{}") => ({
  id,
  type: "function",
  function: { name, arguments: args },
});

describe("messages", () => {
  test("system and developer are system turns where they stand; names are kept", () => {
    const turns = turnsOf(
      { role: "system", content: "A" },
      { role: "user", content: "B", name: "eve" },
      { role: "developer", content: [{ type: "text", text: "C" }] },
    );
    expect(turns).toEqual([
      { role: "system", blocks: [{ type: "text", text: "A" }] },
      { role: "user", blocks: [{ type: "text", text: "B" }], name: "eve" },
      { role: "system", blocks: [{ type: "text", text: "C" }] },
    ]);
  });

  test("a text and a list with one text are the same", () => {
    expect(turnsOf({ role: "system", content: "A" })).toEqual(
      turnsOf({ role: "system", content: [{ type: "text", text: "A" }] }),
    );
  });

  test("an assistant's reasoning, text and calls become blocks in that order", () => {
    const [turn] = turnsOf({
      role: "assistant",
      content: "text",
      reasoning_content: "thought",
      tool_calls: [
        call("c1", "f", '{"a":1}'),
        { id: "c2", type: "custom", custom: { name: "g", input: "raw" } },
      ],
    });
    expect(turn!.blocks).toEqual([
      { type: "reasoning", text: "thought" },
      { type: "text", text: "text" },
      { type: "tool-call", id: "c1", name: "f", input: '{"a":1}', kind: "function" },
      { type: "tool-call", id: "c2", name: "g", input: "raw", kind: "custom" },
    ]);
  });

  test("arguments as an object are written out; a call without an id gets the same one every time", () => {
    const message = {
      role: "assistant",
      tool_calls: [{ type: "function", function: { name: "f", arguments: { a: 1 } } }],
    };
    const [block] = turnsOf(message)[0]!.blocks;
    expect(block).toMatchObject({ input: '{"a":1}', id: expect.stringMatching(/^call_[0-9a-f]{24}$/) });
    expect(turnsOf(message)[0]!.blocks[0]).toEqual(block!);
  });

  test("content null, empty and absent are no text; a refusal of either place is one block", () => {
    for (const content of [null, ""])
      expect(turnsOf({ role: "assistant", content, refusal: "no" })[0]!.blocks).toEqual([
        { type: "refusal", text: "no" },
      ]);
    expect(
      turnsOf({ role: "assistant", refusal: "no", content: [{ type: "refusal", refusal: "no" }] })[0]!.blocks,
    ).toEqual([{ type: "refusal", text: "no" }]);
  });

  test("tool messages in a row become the results of one user turn", () => {
    const turns = turnsOf(
      { role: "assistant", tool_calls: [call("a", "f"), call("b", "g")] },
      { role: "tool", tool_call_id: "b", content: "2" },
      { role: "tool", tool_call_id: "a", content: [{ type: "text", text: "1" }], is_error: true },
      { role: "user", content: "go on" },
    );
    expect(turns.map((turn) => turn.role)).toEqual(["assistant", "user", "user"]);
    expect(turns[1]!.blocks).toEqual([
      { type: "tool-result", id: "b", blocks: [{ type: "text", text: "2" }] },
      { type: "tool-result", id: "a", blocks: [{ type: "text", text: "1" }], error: true },
    ]);
  });

  test("a result without an id answers the first call that is open", () => {
    const turns = turnsOf(
      { role: "assistant", tool_calls: [call("a", "f"), call("b", "g")] },
      { role: "tool", tool_call_id: "a", content: "1" },
      { role: "tool", content: "2" },
    );
    expect(turns[1]!.blocks.map((block) => block.type === "tool-result" && block.id)).toEqual(["a", "b"]);
  });

  test("legacy function calls and results are paired by name", () => {
    const request = decode({
      functions: [{ name: "f", parameters: { type: "object" } }],
      function_call: { name: "f" },
      messages: [
        { role: "user", content: "go" },
        { role: "assistant", content: null, function_call: { name: "f", arguments: "{}" } },
        { role: "function", name: "f", content: "1" },
      ],
    });
    const id = legacyCallId(1, "f");
    expect(request.turns[1]!.blocks).toEqual([
      { type: "tool-call", id, name: "f", input: "{}", kind: "function" },
    ]);
    expect(request.turns[2]!.blocks).toEqual([
      { type: "tool-result", id, name: "f", blocks: [{ type: "text", text: "1" }] },
    ]);
    expect(request.style.legacyFunctions).toBeTrue();
    expect(request.toolChoice).toEqual({ type: "tool", name: "f" });
    expect(request.tools).toEqual([{ kind: "function", name: "f", parameters: { type: "object" } }]);
  });
});

test("a call in both forms, as llama-cpp-python answers and clients repeat it, is one call", () => {
  const request = decode({
    messages: [
      { role: "user", content: "go" },
      {
        role: "assistant",
        tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }],
        function_call: { name: "f", arguments: "{}" },
      },
      { role: "tool", tool_call_id: "a", content: "1" },
    ],
  });
  expect(request.turns[1]!.blocks).toMatchObject([{ type: "tool-call", id: "a", name: "f" }]);
});

describe("content parts", () => {
  test("images as data URI and as address stay images; the bytes say what they are", () => {
    expect(
      blocksOf({ type: "image_url", image_url: { url: `data:image/jpg;base64,${PNG}`, detail: "low" } }),
    ).toEqual([
      {
        type: "image",
        source: { type: "base64", mediaType: "image/png", data: PNG },
        detail: "low",
        detailPath: "messages[0].content[0].image_url.detail",
      },
    ]);
    expect(blocksOf({ type: "image_url", image_url: { url: "https://x.test/a.png" } })).toEqual([
      { type: "image", source: { type: "url", url: "https://x.test/a.png" } },
    ]);
    expect(blocksOf({ type: "image_url", image_url: "https://x.test/a.png" })).toHaveLength(1);
  });

  test("files: a data URI, bare base64, text, an id", () => {
    const pdf = {
      type: "document",
      source: { type: "base64", mediaType: "application/pdf", data: PDF },
      title: "a.pdf",
    };
    for (const file_data of [`data:application/pdf;base64,${PDF}`, PDF])
      expect(blocksOf({ type: "file", file: { filename: "a.pdf", file_data } })).toEqual([pdf as Block]);
    expect(
      blocksOf({
        type: "file",
        file: { filename: "a.csv", file_data: Buffer.from("ä,b").toString("base64") },
      }),
    ).toEqual([
      { type: "document", source: { type: "text", mediaType: "text/csv", text: "ä,b" }, title: "a.csv" },
    ]);
    expect(blocksOf({ type: "file", file: { file_id: "file-1" } })).toEqual([
      { type: "document", source: { type: "file", id: "file-1" } },
    ]);
  });

  test("audio, refusals, and parts nobody knows", () => {
    expect(
      blocksOf(
        { type: "input_audio", input_audio: { data: "AAAA", format: "mp3" } },
        { type: "hologram", x: 1 },
      ),
    ).toEqual([
      { type: "audio", data: "AAAA", format: "mp3" },
      { type: "foreign", format: "chat-completions", value: { type: "hologram", x: 1 } },
    ]);
  });

  test("cache marks of both spellings", () => {
    const marked = blocksOf(
      { type: "text", text: "a", cache_control: { type: "ephemeral", ttl: "5m", scope: "global" } },
      { type: "text", text: "b", prompt_cache_breakpoint: { mode: "explicit" } },
      { type: "text", text: "c", prompt_cache_breakpoint: { mode: "explicit", ttl: "12h" } },
    );
    expect(marked.map((block) => "cache" in block && block.cache)).toEqual([
      { ttl: "5m" },
      {},
      { ttl: "1h" },
    ]);
  });

  test("a part that is not what its type says is refused by its place", async () => {
    const cases: [JsonObject, string][] = [
      [{ type: "image_url", image_url: {} }, "messages[0].content[0].image_url.url"],
      [{ type: "image_url" }, "messages[0].content[0].image_url"],
      [{ type: "file" }, "messages[0].content[0].file"],
      [{ type: "file", file: { filename: "x" } }, "messages[0].content[0].file.file_data"],
      [{ type: "input_audio", input_audio: { format: "wav" } }, "messages[0].content[0].input_audio.data"],
    ];
    for (const [part, param] of cases) {
      const error = await failure(() => blocksOf(part));
      expect(error.param).toBe(param);
      expect(error.status).toBe(400);
    }
  });
});

describe("reasoning a client sends back", () => {
  const reasoningOf = (message: JsonObject) =>
    turnsOf({ role: "assistant", content: "x", ...message })[0]!.blocks.filter(
      (block) => block.type === "reasoning",
    );

  test("entries win over blocks, blocks over plain text", () => {
    const details = [
      { type: "reasoning.text", text: "d", signature: "s", format: "anthropic-claude-v1", index: 0 },
    ];
    const blocks = [{ type: "thinking", thinking: "b", signature: "s" }];
    expect(reasoningOf({ reasoning_details: details, thinking_blocks: blocks, reasoning: "p" })).toEqual([
      { type: "reasoning", text: "d", signature: "s", origin: "anthropic" },
    ]);
    expect(reasoningOf({ thinking_blocks: blocks, reasoning: "p" })).toEqual([
      { type: "reasoning", text: "b", signature: "s", origin: "anthropic" },
    ]);
    expect(reasoningOf({ reasoning: "p" })).toEqual([{ type: "reasoning", text: "p" }]);
    expect(reasoningOf({ reasoning_details: [], reasoning_content: "p" })).toEqual([
      { type: "reasoning", text: "p" },
    ]);
  });

  test("fragments of a stream that a client collected are put together again", () => {
    const entry = { type: "reasoning.text", format: "anthropic-claude-v1" };
    const details = [
      { ...entry, index: 0, text: "a" },
      { ...entry, index: 0, text: "b" },
      { ...entry, index: 0, signature: "s1" },
      { type: "reasoning.encrypted", data: "e", format: "anthropic-claude-v1", index: 1 },
      { ...entry, index: 2, text: "c", signature: "s2" },
      { ...entry, index: 2, text: "d" },
    ];
    expect(reasoningOf({ reasoning_details: details })).toEqual([
      { type: "reasoning", text: "ab", signature: "s1", origin: "anthropic" },
      { type: "reasoning", text: "", redacted: "e", origin: "anthropic" },
      { type: "reasoning", text: "c", signature: "s2", origin: "anthropic" },
      { type: "reasoning", text: "d", origin: "anthropic" },
    ]);
  });

  test("a signature without text is kept", () => {
    expect(
      reasoningOf({
        reasoning_details: [{ type: "reasoning.text", signature: "s", format: "anthropic-claude-v1" }],
      }),
    ).toEqual([{ type: "reasoning", text: "", signature: "s", origin: "anthropic" }]);
  });

  test("a sealed value in LiteLLM's blocks is opened, and redacted ones are read", () => {
    expect(
      reasoningOf({
        thinking_blocks: [
          { type: "thinking", thinking: "t", signature: wrap("google", "sig") },
          { type: "redacted_thinking", data: "r" },
        ],
      }),
    ).toEqual([
      { type: "reasoning", text: "t", signature: "sig", origin: "google" },
      { type: "reasoning", text: "", redacted: "r", origin: "anthropic" },
    ]);
  });

  test("the format of an entry says who made it", () => {
    const origins = ["google-gemini-v1", "openai-responses-v1", "weir1.deepseek", "someone-v1"].map(
      (format) =>
        reasoningOf({ reasoning_details: [{ type: "reasoning.encrypted", data: "e", format }] })[0]!,
    );
    expect(origins.map((block) => block.type === "reasoning" && block.origin)).toEqual([
      "google",
      "openai",
      "deepseek",
      "someone-v1",
    ]);
  });

  test("Gemini's signature beside a call stands in front of it", () => {
    const extra_content = { google: { thought_signature: "sig" } };
    const [turn] = turnsOf({ role: "assistant", tool_calls: [{ ...call("c", "f"), extra_content }] });
    expect(turn!.blocks[0]).toEqual({
      type: "reasoning",
      text: "",
      signature: "sig",
      origin: "google",
    });
  });
});
