/** Each client codec records where it found the parts of a request. */
import { describe, expect, test } from "bun:test";
import type { Block, ChatRequest } from "../../../src/core/chat.ts";
import { lossesOf, makeContext } from "../../helpers/codec-context.ts";
import { client as chatClient, upstream as chatUpstream } from "../chat-completions/make.ts";
import { client as messagesClient, upstream as messagesUpstream } from "../messages/make.ts";

/** Path of a block, of its arguments, and of the blocks in it. */
function pathsOf(block: Block): (string | undefined)[] {
  const inner = block.type === "tool-result" ? block.blocks.flatMap(pathsOf) : [];
  return [block.path, ...(block.type === "tool-call" ? [block.inputPath] : []), ...inner];
}

const turnsOf = ({ turns }: ChatRequest) =>
  turns.map(({ path, blocks }) => [path, ...blocks.flatMap(pathsOf)].join(" "));
const toolsOf = ({ tools }: ChatRequest) =>
  tools.map(({ path, memberPaths = {} }) => [path, ...Object.values(memberPaths)].join(" "));

describe("a chat-completions request", () => {
  const text = (value: string) => ({ type: "text", text: value });

  test("has a path for each message, part, call and result; reasoning that of its member", () => {
    const request = chatClient.codec.decodeRequest(
      {
        model: "m",
        messages: [
          { role: "system", content: "be kind" },
          { role: "user", content: [text("a"), text("b")] },
          {
            role: "assistant",
            content: "c",
            reasoning_content: "r",
            tool_calls: [
              { id: "1", type: "function", function: { name: "f", arguments: "{}" } },
              { id: "2", type: "custom", custom: { name: "g", input: "x" } },
            ],
          },
          { role: "tool", tool_call_id: "1", content: [text("d")] },
          { role: "tool", tool_call_id: "2", content: "e" },
          { role: "assistant", content: null, refusal: "no", audio: { id: "a" } },
          { role: "assistant", content: null, function_call: { name: "f", arguments: "{}" } },
        ],
      },
      makeContext(),
    );
    expect(turnsOf(request)).toEqual([
      "messages[0] messages[0].content",
      "messages[1] messages[1].content[0] messages[1].content[1]",
      "messages[2] messages[2].reasoning_content messages[2].content messages[2].tool_calls[0] messages[2].tool_calls[0].function.arguments messages[2].tool_calls[1] messages[2].tool_calls[1].custom.input",
      "messages[3] messages[3] messages[3].content[0] messages[4] messages[4].content",
      "messages[5] messages[5].refusal messages[5].audio",
      "messages[6] messages[6].function_call messages[6].function_call.arguments",
    ]);
    expect(request.paths).toMatchObject({ turns: "messages", effort: "reasoning_effort", stop: "stop" });
  });

  test("has a path for each tool and its members, and for legacy functions", () => {
    const tools = [
      { type: "function", function: { name: "f" } },
      { type: "custom", custom: { name: "g" } },
      { type: "web_search" },
    ];
    const messages = [{ role: "user", content: "hi" }];
    const request = chatClient.codec.decodeRequest(
      { model: "m", messages, tools, functions: [{ name: "h" }] },
      makeContext(),
    );
    expect(toolsOf(request)).toEqual([
      "tools[0] tools[0].function.parameters tools[0].function.strict",
      "tools[1] tools[1].custom.format",
      "tools[2]",
      "functions[0] functions[0].parameters functions[0].strict",
    ]);
  });
});

describe("a messages request", () => {
  test("has a path for each message and block, also inside of results and behind a change of tools", () => {
    const request = messagesClient.codec.decodeRequest(
      {
        model: "m",
        max_tokens: 9,
        system: [{ type: "text", text: "be kind" }],
        messages: [
          { role: "user", content: "a" },
          { role: "assistant", content: [{ type: "tool_use", id: "1", name: "f", input: {} }] },
          {
            role: "user",
            content: [
              { type: "tool_result", tool_use_id: "1", content: [{ type: "text", text: "d" }] },
              { type: "text", text: "e" },
            ],
          },
          {
            role: "system",
            content: [
              { type: "tool_removal", tool: { name: "f" } },
              { type: "text", text: "f is gone" },
            ],
          },
        ],
      },
      makeContext(),
    );
    expect(turnsOf(request)).toEqual([
      "system system[0]",
      "messages[0] messages[0].content",
      "messages[1] messages[1].content[0] messages[1].content[0].input",
      "messages[2] messages[2].content[0] messages[2].content[0].content[0] messages[2].content[1]",
      "messages[3] messages[3].content[1]",
    ]);
    expect(request.paths).toMatchObject({ effort: "output_config.effort", stop: "stop_sequences" });
  });

  test("has a path for each tool and its members", () => {
    const request = messagesClient.codec.decodeRequest(
      {
        model: "m",
        max_tokens: 9,
        messages: [{ role: "user", content: "hi" }],
        tools: [
          { name: "f", input_schema: { type: "object" } },
          { name: "bash", type: "bash_20250124" },
          { name: "web_search", type: "web_search_20250305" },
        ],
      },
      makeContext(),
    );
    expect(toolsOf(request)).toEqual([
      "tools[0] tools[0].input_schema tools[0].strict",
      "tools[1]",
      "tools[2]",
    ]);
  });
});

test("a part that a plugin added has the path of what contains it", () => {
  const image: Block = { type: "image", source: { type: "url", url: "https://host.example/a.png" } };
  for (const [client, upstream] of [
    [chatClient, messagesUpstream],
    [messagesClient, chatUpstream],
  ] as const) {
    const context = makeContext({ traits: { images: false } });
    const body = { model: "m", max_tokens: 9, messages: [{ role: "user", content: "hi" }] };
    const request = client.codec.decodeRequest(body, context);
    request.turns[0]!.blocks.push(image);
    request.turns.push({ role: "user", blocks: [image] });
    upstream.codec.encodeRequest(request, context);
    expect(lossesOf(context)).toEqual(["dropped:messages[0]", "dropped:messages"]);
  }
});
