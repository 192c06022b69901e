import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Block, Turn } from "../../../src/core/chat.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import type { Traits } from "../../../src/core/provider.ts";
import { encode } from "./make.ts";
import { say, user, assistant, system, call, result, image, turnsTo } from "./turns.ts";
import { withinBudget } from "../../helpers/within-budget.ts";

const anyBlock: fc.Arbitrary<Block> = fc.oneof(
  fc.constantFrom("a", " ", "\n", "long text").map(say),
  fc.constantFrom<Block>(image, { type: "reasoning", text: "r" }, { type: "refusal", text: "no" }),
  fc.constantFrom<Block>(
    { type: "foreign", format: "messages", value: {}, instead: image },
    { type: "foreign", format: "messages", value: {}, text: "f" },
  ),
);
const anyId = fc.constantFrom("a", "b", "c.d", "x".repeat(50));
const anyTurn: fc.Arbitrary<Turn> = fc.oneof(
  fc
    .array(
      fc.oneof(
        anyBlock,
        anyId.map((id) => result(id, "r")),
      ),
      { maxLength: 3 },
    )
    .map((blocks) => user(...blocks)),
  fc
    .array(
      fc.oneof(
        anyBlock,
        fc.constant<Block>({ type: "foreign", format: "messages", value: {} }),
        anyId.map((id) => call(id)),
      ),
      { maxLength: 3 },
    )
    .map((blocks) => assistant(...blocks)),
  fc.constant(system("S")),
);
const anyTraits: fc.Arbitrary<Traits> = fc.constantFrom<Traits>(
  {},
  { systemPlacement: "first-only", images: false, reasoningReplay: "required" },
  { toolIds: "mistral", imageInToolMessage: true },
);

describe("any history", () => {
  const histories = fc
    .array(anyTurn, { minLength: 1, maxLength: 8 })
    .map((turns) => [user("begin"), ...turns]);

  test("equal requests give equal bytes, and a further turn keeps the old bytes as prefix", () => {
    withinBudget(
      fc.property(histories, anyTraits, (turns, traits) => {
        const written = JSON.stringify(turnsTo(turns, traits).body);
        expect(JSON.stringify(turnsTo(structuredClone(turns), traits).body)).toBe(written);
        // What may still be answered is not settled: the assistant's last word and results are.
        const settled = [...turns, assistant("ok")];
        const longer = [...settled, user("more")];
        const prefix = JSON.stringify(turnsTo(settled, traits).body).slice(0, -2);
        expect(JSON.stringify(turnsTo(longer, traits).body).startsWith(prefix)).toBeTrue();
      }),
    );
  });

  test("no blank text, every call answered at once, no message of the assistant's invented", () => {
    withinBudget(
      fc.property(histories, anyTraits, (turns, traits) => {
        const { messages } = turnsTo(turns, traits);
        expect(messages.filter(({ role }) => role === "assistant").length).toBeLessThanOrEqual(
          turns.filter(({ role }) => role === "assistant").length,
        );
        for (const [at, message] of messages.entries()) {
          for (const text of textsIn(message)) if (message.role !== "tool") expect(text).toMatch(/\S/);
          const ids = ((message.tool_calls as JsonObject[] | undefined) ?? []).map(({ id }) => id);
          if (ids.length > 0) expect(answersBehind(messages, at)).toEqual(expect.arrayContaining(ids));
          if (message.role === "tool")
            expect(messages.slice(0, at).flatMap(callIds)).toContain(message.tool_call_id);
        }
        const all = messages.flatMap(callIds);
        expect(new Set(all).size).toBe(all.length);
      }),
    );
  });
});

function textsIn({ content }: JsonObject): string[] {
  if (typeof content === "string") return [content];
  return Array.isArray(content)
    ? (content as JsonObject[]).flatMap(({ text }) => (typeof text === "string" ? [text] : []))
    : [];
}

function callIds(message: JsonObject): unknown[] {
  return ((message.tool_calls as JsonObject[] | undefined) ?? []).map(({ id }) => id);
}

/** Ids of the tool messages behind a message and the assistant messages directly behind it. */
function answersBehind(messages: readonly JsonObject[], at: number): unknown[] {
  let next = at + 1;
  while (messages[next]?.role === "assistant") next++;
  const answers: unknown[] = [];
  for (; messages[next]?.role === "tool"; next++) answers.push(messages[next]!.tool_call_id);
  return answers;
}

describe("a loss inside a tool result names the result", () => {
  const found = (id: string): Block => ({
    type: "tool-result",
    id,
    blocks: [{ type: "foreign", format: "elsewhere", value: {}, text: `[found ${id}]` }],
  });
  const calls: Block[] = ["a", "b"].map((id) => ({
    type: "tool-call",
    id,
    name: "find",
    input: "{}",
    kind: "function",
  }));
  const turns: Turn[] = [
    { role: "user", blocks: [{ type: "text", text: "hi" }] },
    { role: "assistant", blocks: calls },
    { role: "user", blocks: [found("a"), found("b")] },
  ];

  test("as a block for a messages client, as a message for a chat client", () => {
    expect(encode({ turns }, { format: "messages" }).losses).toEqual([
      "converted:messages[2].content[0].content[0]",
      "converted:messages[2].content[1].content[0]",
    ]);
    expect(encode({ turns }, { format: "chat-completions" }).losses).toEqual([
      "converted:messages[2].content[0]",
      "converted:messages[3].content[0]",
    ]);
  });
});
