import { compilePrincipal } from "../../../src/ledger/keys/principal.ts";
import { entryOf } from "../../helpers/keys.ts";
import { expect, test } from "bun:test";
import { Call } from "../../../src/core/call.ts";
import type { ChatRequest, ReasoningBlock } from "../../../src/core/chat.ts";
import type { ChatEvent } from "../../../src/core/events.ts";
import { NO_USAGE } from "../../../src/core/events.ts";
import { placeBehind } from "../../../src/gateway/reasoning/conversation-hash.ts";
import { ReasoningCache, rememberReasoning, restoreReasoning } from "../../../src/gateway/reasoning/cache.ts";

function callOf(key?: string): Call {
  const call = new Call("req_x", "chat-completions", new Headers());
  if (key !== undefined) call.principal = compilePrincipal(entryOf(key, key));
  return call;
}

async function* answer(): AsyncGenerator<ChatEvent> {
  yield { type: "message-start", id: "m", model: "m" };
  yield { type: "block-start", index: 0, block: { type: "reasoning", origin: "anthropic" } };
  yield { type: "block-delta", index: 0, delta: "because " };
  yield { type: "block-delta", index: 0, delta: "so" };
  yield { type: "block-end", index: 0, signature: "SIG" };
  yield {
    type: "block-start",
    index: 1,
    block: { type: "reasoning", redacted: "OPAQUE", origin: "anthropic" },
  };
  yield { type: "block-end", index: 1 };
  yield {
    type: "block-start",
    index: 2,
    block: { type: "tool-call", id: "call_1", name: "f", kind: "function" },
  };
  yield { type: "block-end", index: 2 };
  yield { type: "message-end", reason: { kind: "tool-calls" }, usage: NO_USAGE };
}

const signed: ReasoningBlock[] = [
  { type: "reasoning", text: "because so", signature: "SIG", origin: "anthropic" },
  { type: "reasoning", text: "", redacted: "OPAQUE", origin: "anthropic" },
];

function history(more: ReasoningBlock[] = []): ChatRequest {
  const call = {
    type: "tool-call" as const,
    id: "call_1",
    name: "f",
    input: "{}",
    kind: "function" as const,
  };
  return {
    model: "m",
    turns: [{ role: "assistant", blocks: [...more, call] }],
    tools: [],
    stop: [],
    stream: false,
    style: {},
    extra: {},
  };
}

async function remembered(key?: string, cache = new ReasoningCache()): Promise<ReasoningCache> {
  const see = rememberReasoning(callOf(key), cache);
  for await (const event of answer()) see(event);
  return cache;
}

test("reasoning a client lost is put back in front of its tool call, byte for byte", async () => {
  const cache = await remembered();
  const request = history();
  restoreReasoning(request, callOf(), cache);
  expect(request.turns[0]?.blocks.slice(0, 2)).toEqual(signed);
  expect(request.turns[0]?.blocks.length).toBe(3);
});

test("reasoning between other blocks returns to the call that it stood in front of", () => {
  const cache = new ReasoningCache();
  const see = rememberReasoning(callOf(), cache);
  const thought = (index: number, signature: string): ChatEvent[] => [
    { type: "block-start", index, block: { type: "reasoning", origin: "google" } },
    { type: "block-end", index, signature },
  ];
  const called = (index: number, id: string): ChatEvent[] => [
    { type: "block-start", index, block: { type: "tool-call", id, name: "f", kind: "function" } },
    { type: "block-end", index },
  ];
  const text: ChatEvent[] = [
    { type: "block-start", index: 1, block: { type: "text" } },
    { type: "block-delta", index: 1, delta: "I call f." },
    { type: "block-end", index: 1 },
  ];
  const end: ChatEvent = { type: "message-end", reason: { kind: "tool-calls" }, usage: NO_USAGE };
  for (const event of [
    ...thought(0, "OF_TEXT"),
    ...text,
    ...called(2, "call_1"),
    ...thought(3, "OF_CALL"),
    ...called(4, "call_2"),
    end,
  ])
    see(event);
  const request = history();
  const [first] = request.turns[0]!.blocks;
  request.turns[0]!.blocks = [
    { type: "text", text: "I call f." },
    first!,
    { type: "tool-call", id: "call_2", name: "f", input: "{}", kind: "function" },
  ];
  restoreReasoning(request, callOf(), cache);
  const places = request.turns[0]!.blocks.map((block) =>
    block.type === "reasoning" ? block.signature : block.type === "tool-call" ? block.id : block.type,
  );
  expect(places).toEqual(["OF_TEXT", "text", "call_1", "OF_CALL", "call_2"]);
});

test("reasoning that was sent back signed is left alone; unsigned text makes way", async () => {
  const cache = await remembered();
  const own = history([{ type: "reasoning", text: "mine", signature: "OWN" }]);
  restoreReasoning(own, callOf(), cache);
  expect(own).toEqual(history([{ type: "reasoning", text: "mine", signature: "OWN" }]));
  const plain = history([{ type: "reasoning", text: "because so" }]);
  restoreReasoning(plain, callOf(), cache);
  expect(plain.turns[0]?.blocks.slice(0, 2)).toEqual(signed);
});

test("where clients lose the ids of calls, the conversation finds the reasoning, and no other conversation does", async () => {
  const asked = (text: string): ChatRequest["turns"] => [
    { role: "system", blocks: [{ type: "text", text: "Be brief." }] },
    { role: "user", blocks: [{ type: "text", text }] },
  ];
  const cache = new ReasoningCache();
  const see = rememberReasoning(callOf(), cache, { place: placeBehind(asked("Oslo?")) });
  for await (const event of answer()) see(event);
  const restored = (text: string, losesIds: boolean) => {
    const request = history();
    (request.turns[0]!.blocks[0] as { id: string }).id = "call_minted";
    const result = { type: "tool-result" as const, id: "call_minted", blocks: [] };
    request.turns = [...asked(text), ...request.turns, { role: "user", blocks: [result] }];
    restoreReasoning(request, callOf(), cache, losesIds);
    return request.turns[2]!.blocks.slice(0, -1);
  };
  expect(restored("Oslo?", true)).toEqual(signed);
  expect(restored("Rome?", true)).toEqual([]);
  expect(restored("Oslo?", false)).toEqual([]);
});

test("one key's reasoning is never another's", async () => {
  const cache = await remembered("alice");
  const request = history();
  restoreReasoning(request, callOf("bob"), cache);
  expect(request).toEqual(history());
});

test("an id that comes again with other arguments, or for another tool, is another call", () => {
  const cache = new ReasoningCache();
  const kept = signed.map((block) => ({ block }));
  cache.remember(callOf(), { id: "call_0", name: "f", input: '{"a": 1}' }, kept);
  expect(cache.recall(callOf(), { id: "call_0", name: "f", input: '{"a":1}' })).toEqual(kept);
  expect(cache.recall(callOf(), { id: "call_0", name: "f", input: '{"a":2}' })).toEqual([]);
  expect(cache.recall(callOf(), { id: "call_0", name: "g", input: '{"a":1}' })).toEqual([]);
});

const toolCall = (id: string) => ({ id, name: "f", input: "{}" });

test("the oldest goes when it grows too large", () => {
  const cache = new ReasoningCache(100);
  for (let id = 0; id < 50; id++)
    cache.remember(callOf(), toolCall(`call_${id}`), [
      { block: { type: "reasoning", text: "x".repeat(10), signature: "y".repeat(10) } },
    ]);
  expect(cache.size).toBe(5);
  expect(cache.recall(callOf(), toolCall("call_49")).length).toBe(1);
  expect(cache.recall(callOf(), toolCall("call_0"))).toEqual([]);
});

test("what the client kept of a provider that does not sign is not replaced by another conversation's", async () => {
  const cache = await remembered();
  const own: ReasoningBlock = { type: "reasoning", text: "mine", origin: "house" };
  const request = history([own]);
  restoreReasoning(request, callOf(), cache);
  expect(request.turns[0]?.blocks[0]).toEqual(own);
  expect(request.turns[0]?.blocks.length).toBe(2);
});

test("of two calls with one id, the one that is left is still found when the other is forgotten", () => {
  const cache = new ReasoningCache(25);
  const call = callOf("a");
  const blocks = [{ block: signed[0]! }];
  const toolCall = (input: string) => ({ id: "call_1", name: "f", input });
  cache.remember(call, toolCall('{"n":1}'), blocks);
  // Together they are more than the cache holds: the older one goes.
  cache.remember(call, toolCall('{"n":2}'), blocks);
  expect(cache.size).toBe(1);
  expect(cache.recall(call, toolCall('{"n":1}'))).toEqual([]);
  expect(cache.recall(call, toolCall('{"n":2}'))).toEqual(blocks);
  cache.remember(call, { ...toolCall("{}"), id: "call_2" }, blocks);
  expect(cache.recall(call, toolCall('{"n":2}'))).toEqual([]);
});
