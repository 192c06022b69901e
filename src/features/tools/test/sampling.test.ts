/** What servers may ask of models, which model answers, and what the config may say of it. */
import { describe, expect, test } from "bun:test";
import type { ListedModel } from "../../../core/model-listing.ts";
import type { JsonObject } from "../../../core/json.ts";
import { hinted, hintsOf } from "../sampling/model.ts";
import { readRequest } from "../sampling/request.ts";
import { resultOf } from "../sampling/result.ts";
import { samplesOf, samplingFaults } from "../sampling/section.ts";

const text = { type: "text", text: "Hello" };
const turn = (content: unknown, role = "user") => ({ role, content }) as JsonObject;
const use = (id: string) => ({ type: "tool_use", id, name: "pick", input: { a: 1 } });
const result = (toolUseId: string) => ({ type: "tool_result", toolUseId, content: [text] });

const asked = (more: object) => ({ messages: [turn(text)], maxTokens: 5, ...more }) as JsonObject;

describe("a request", () => {
  test("keeps what the server wants", () => {
    const messages = [
      turn([text, { type: "audio", data: "AAAA", mimeType: "audio/mpeg" }]),
      turn([use("a"), use("b")], "assistant"),
      turn([result("b"), { ...result("a"), isError: true }]),
    ];
    const tools = [{ name: "pick", description: "Picks", inputSchema: { type: "object" } }];
    const read = readRequest(
      asked({ messages, tools, toolChoice: { mode: "required" }, includeContext: "thisServer" }),
    );
    expect(read).toMatchObject({
      maxTokens: 5,
      toolChoice: { type: "required" },
      tools: [{ kind: "function", name: "pick", description: "Picks", parameters: { type: "object" } }],
      turns: [
        {
          role: "user",
          blocks: [
            { type: "text", text: "Hello" },
            { type: "audio", format: "mp3" },
          ],
        },
        { role: "assistant", blocks: [{ id: "a", input: '{"a":1}' }, { id: "b" }] },
        {
          role: "user",
          blocks: [
            { type: "tool-result", id: "b" },
            { id: "a", error: true },
          ],
        },
      ],
    });
    expect("includeContext" in read).toBe(false);
  });

  const WRONG: readonly (readonly [member: string, request: object])[] = [
    ["messages", { messages: undefined }],
    ["messages", { messages: [] }],
    ["messages", { messages: "Hello" }],
    ["messages[0]", { messages: ["Hello"] }],
    ["messages[0].role", { messages: [turn(text, "system")] }],
    ["messages[0].content", { messages: [turn("Hello")] }],
    ["messages[0].content", { messages: [turn([])] }],
    ["messages[0].content.text", { messages: [turn({ type: "text", text: 5 })] }],
    ["messages[0].content.type", { messages: [turn({ type: "video" })] }],
    [
      "messages[0].content.mimeType",
      { messages: [turn({ type: "image", data: "", mimeType: "text/html" })] },
    ],
    ["messages[0].content.data", { messages: [turn({ type: "image", mimeType: "image/png" })] }],
    ["messages[0]", { messages: [turn([result("a")])] }],
    ["messages[1]", { messages: [turn([use("a")], "assistant"), turn([result("a"), text])] }],
    ["messages[1]", { messages: [turn([use("a")], "assistant"), turn(text)] }],
    [
      "messages[1]",
      { messages: [turn([use("a"), use("b")], "assistant"), turn([result("a"), result("a")])] },
    ],
    ["maxTokens", { maxTokens: undefined }],
    ["maxTokens", { maxTokens: 0 }],
    ["maxTokens", { maxTokens: 1e300 }],
    ["temperature", { temperature: "hot" }],
    ["systemPrompt", { systemPrompt: [] }],
    ["stopSequences[1]", { stopSequences: ["a", 1] }],
    ["stopSequences", { stopSequences: "a" }],
    ["tools[0].name", { tools: [{}] }],
    ["toolChoice.mode", { toolChoice: { mode: "constructor" } }],
  ];
  test.each(WRONG)("is refused for its %s: %o", (member, more) => {
    const why = `params.${member} of sampling/createMessage must be `;
    let thrown: unknown;
    try {
      readRequest(asked(more));
    } catch (caught) {
      thrown = caught;
    }
    expect(thrown).toMatchObject({ code: -32602, message: expect.stringContaining(why) });
  });
});

describe("the model", () => {
  const models = [
    { id: "paint", provider: "p", facts: { output: ["image"] } },
    { id: "large-fast", provider: "p" },
    { id: "Fast", provider: "p", facts: { output: ["text"] } },
  ] as ListedModel[];
  const of = (...names: unknown[]) =>
    hinted(hintsOf({ modelPreferences: { hints: names.map((name) => ({ name })) } } as JsonObject), models);

  test("is the one of the first hint that fits: a name, else a part of one", () => {
    expect([of("fast"), of("none", "large"), of("none"), of()]).toEqual([
      "Fast",
      "large-fast",
      undefined,
      undefined,
    ]);
  });

  test("writes text, and hints that are none count for nothing", () => {
    expect([of("paint"), of(""), of(5), of("fast".repeat(100))]).toEqual(Array(4).fill(undefined));
    expect(
      hintsOf({ modelPreferences: { hints: Array(1_000).fill({ name: "a" }) } } as JsonObject).length,
    ).toBe(10);
  });
});

test("content is one block for servers without tools, and a list for the others", () => {
  const answer = { id: "", provider: "p", model: "m", text: "Hi", reasoning: "", toolCalls: [], images: [] };
  const ended = { ...answer, finish: { kind: "length" }, usage: {} } as unknown as Parameters<
    typeof resultOf
  >[0];
  const block = { type: "text", text: "Hi" };
  expect(resultOf(ended, false)).toMatchObject({ content: block, stopReason: "maxTokens", model: "m" });
  expect(resultOf(ended, true)["content"]).toEqual([block]);
  expect(resultOf({ ...ended, text: "" }, true)["content"]).toEqual({ type: "text", text: "" });
});

test("servers may ask only if the config names them, and it names only those that exist", () => {
  const options = { model: "fast", allow: ["github"], maxCalls: 4 };
  expect([samplesOf(options, "github"), samplesOf(options, "files"), samplesOf(undefined, "github")]).toEqual(
    [4, 0, 0],
  );
  expect(samplesOf({ ...options, allow: ["*"] }, "files")).toBe(4);
  expect(samplesOf({ ...options, allow: [] }, "files")).toBe(0);
  expect(samplingFaults(options, ["github"])).toEqual([]);
  expect(samplingFaults({ allow: ["*", "other"] }, ["github"])).toEqual([
    { path: ["tools", "sampling", "allow", 1], clause: "is the name of no server" },
  ]);
});
