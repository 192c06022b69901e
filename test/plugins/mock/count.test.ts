import { describe, expect, test } from "bun:test";
import type { Block, ChatRequest, Tool } from "../../../src/core/chat.ts";
import { countInput } from "../../../plugins/mock/count.ts";
import { splitTokens } from "../../../plugins/mock/tokens.ts";
import { askAll, assistant, endOf, request, user } from "./ask.ts";

const cache = {};
const long = (letter: string): Block => ({ type: "text", text: letter.repeat(8000) });
const marked = (letter: string): Block => ({ type: "text", text: letter.repeat(8000), cache });

function count(turns: ChatRequest["turns"], more: Partial<ChatRequest> = {}) {
  return countInput(request("chat", turns, more));
}

describe("the mock counts", () => {
  test("four characters a token, and a little for each turn", () => {
    expect(count([user(long("a"))]).input).toBe(2004);
  });

  test("images, documents and audio at a fixed price", () => {
    const url = { type: "url", url: "https://example.com/x" } as const;
    expect(count([user({ type: "image", source: url })]).input).toBe(1004);
    expect(count([user({ type: "document", source: url })]).input).toBe(2004);
    expect(count([user({ type: "audio", data: "AAAA", format: "wav" })]).input).toBe(504);
  });

  test("documents of text by their text", () => {
    const source = { type: "text", mediaType: "text/plain", text: "a".repeat(400) } as const;
    expect(count([user({ type: "document", source })]).input).toBe(104);
  });

  test("tools, their calls and their results", () => {
    const tool: Tool = { kind: "function", name: "get_weather", parameters: { type: "object" } };
    expect(count([], { tools: [tool] }).input).toBeGreaterThan(20);
    const call: Block = { type: "tool-call", id: "c", name: "get_weather", input: "{}", kind: "function" };
    const result: Block = { type: "tool-result", id: "c", blocks: [long("r")] };
    expect(count([assistant(call), user(result)]).input).toBeGreaterThan(2024);
  });

  test("the same in the first event and in the last", async () => {
    const events = await askAll(request("chat", [user(marked("a"), "b")]));
    const first = events[0];
    const { output: _output, reasoning: _reasoning, ...end } = endOf(events).usage;
    expect(first?.type === "message-start" && first.usage).toMatchObject(end);
  });
});

describe("a prompt cache", () => {
  const opening = user(marked("a"), long("b"));
  const followUp = [opening, assistant("c".repeat(400)), user(marked("d"), long("e"))];

  test("is not used without marks", () => {
    expect(count([user(long("a"))])).toMatchObject({ cacheRead: 0, cacheWrite: 0 });
  });

  test("is written up to the last mark by a first request", () => {
    expect(count([opening])).toMatchObject({ input: 2000, cacheRead: 0, cacheWrite: 2004 });
  });

  test("is read by the next for what stood in front of the last answer", () => {
    const usage = count(followUp);
    expect(usage).toMatchObject({ input: 2000, cacheRead: 4004 });
    expect(usage.cacheWrite).toBe(104 + 2004);
  });

  test("holds everything when the request as a whole is marked", () => {
    expect(count([user(long("a"))], { cache })).toMatchObject({ input: 0, cacheWrite: 2004 });
  });

  test("does not hold a short prompt", () => {
    expect(count([user("short")], { cache })).toMatchObject({ input: 6, cacheRead: 0, cacheWrite: 0 });
  });

  test("counts the same again: nothing is remembered", () => {
    expect(count(followUp)).toEqual(count(followUp));
  });

  test("never changes the sum", () => {
    const sum = ({ input, cacheRead, cacheWrite }: ReturnType<typeof count>) =>
      input + cacheRead + cacheWrite;
    const bare = followUp.map((turn) => ({
      ...turn,
      blocks: turn.blocks.map((block) => ({ ...block, cache: undefined })),
    }));
    expect(sum(count(followUp))).toBe(sum(count(bare)));
  });
});

describe("tokens", () => {
  for (const text of ["Hello there, world", "", "   ", "\n\n\n\n\n\n\nx", "👩‍👩‍👧‍👧héllo世界", "a\ud83d"])
    test(`of ${JSON.stringify(text)} are the text again`, () => {
      expect(splitTokens(text).join("")).toBe(text);
    });
});
