/** What must hold for every request that goes upstream. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Block, Turn } from "../../../src/core/chat.ts";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { isObject } from "../../../src/core/json.ts";
import { client, encode, upstream } from "./make.ts";
import { withinBudget } from "../../helpers/within-budget.ts";

describe("requests to the upstream", () => {
  const anyText = fc.constantFrom("", " ", "\n\t", "a", "b c");
  const blocks: fc.Arbitrary<Block> = fc.oneof(
    anyText.map((text): Block => ({ type: "text", text })),
    fc
      .constantFrom("a", "b", "c:1")
      .map((id): Block => ({ type: "tool-call", id, name: "f.x", input: "{}", kind: "function" })),
    fc
      .tuple(
        fc.constantFrom("a", "b", "c:1", "zz"),
        fc.array(
          anyText.map((text): Block => ({ type: "text", text })),
          { maxLength: 2 },
        ),
      )
      .map(([id, inner]): Block => ({ type: "tool-result", id, blocks: inner })),
    fc.constant<Block>({ type: "reasoning", text: "r" }),
    fc.constant<Block>({ type: "reasoning", text: "r", signature: "S", origin: "anthropic" }),
    fc.constant<Block>({ type: "refusal", text: "no" }),
  );
  const legal: Record<Turn["role"], Block["type"][]> = {
    system: ["text"],
    user: ["text", "tool-result"],
    assistant: ["text", "tool-call", "reasoning", "refusal"],
  };
  const turn: fc.Arbitrary<Turn> = fc
    .record({
      role: fc.constantFrom<Turn["role"]>("user", "assistant", "system"),
      blocks: fc.array(blocks, { maxLength: 4 }),
    })
    .map(({ role, blocks: given }) => ({
      role,
      blocks: given.filter(({ type }) => legal[role].includes(type)),
    }));
  const turns = fc
    .array(turn, { minLength: 1, maxLength: 8 })
    .filter((list) => list.some(({ role }) => role !== "system"));
  const models = fc.constantFrom("claude-opus-5-5", "claude-haiku-4-5", "claude-opus-4-6", "kimi-k3");

  const contentOf = (message: JsonObject) => message.content as JsonObject[];

  function texts(value: Json | undefined): string[] {
    if (Array.isArray(value)) return value.flatMap(texts);
    if (!isObject(value)) return [];
    return [...(typeof value.text === "string" ? [value.text] : []), ...texts(value.content)];
  }

  test("whatever comes in, what goes out has the form the vendor demands", () => {
    withinBudget(
      fc.property(turns, models, (list, model) => {
        const { body } = encode({ turns: list, tools: [{ kind: "function", name: "f.x" }] }, { model });
        const messages = body.messages as JsonObject[];
        expect([...texts(body.messages), ...texts(body.system)].filter((text) => text.trim() === "")).toEqual(
          [],
        );
        expect(messages[0]!.role).toBe("user");
        let calls: Json[] = [];
        for (const [index, message] of messages.entries()) {
          const content = contentOf(message);
          expect(content.length).toBeGreaterThan(0);
          const before = messages[index - 1];
          if (message.role === "system")
            expect(before!.role === "user" || before!.role === "system").toBe(true);
          else expect(before?.role).not.toBe(message.role);
          const results = content.filter(({ type }) => type === "tool_result");
          expect(content.slice(0, results.length)).toEqual(results);
          expect(results.map(({ tool_use_id }) => tool_use_id as unknown)).toEqual(calls as unknown[]);
          calls = content.flatMap(({ type, id }) => (type === "tool_use" ? [id!] : []));
          for (const id of calls) expect(String(id)).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
        }
        expect(calls).toEqual([]);
        if (model === "claude-opus-5-5") expect(messages.at(-1)!.role).not.toBe("assistant");
      }),
    );
  });

  test("the same history gives the same bytes, and losses are listed once", () => {
    withinBudget(
      fc.property(turns, models, (list, model) => {
        const first = encode({ turns: list }, { model });
        const second = encode({ turns: structuredClone(list) }, { model });
        expect(JSON.stringify(first.body)).toBe(JSON.stringify(second.body));
        expect(new Set(first.losses).size).toBe(first.losses.length);
      }),
    );
  });

  test("no word of the client's is lost", () => {
    withinBudget(
      fc.property(turns, models, (list, model) => {
        const said = JSON.stringify([encode({ turns: list }, { model }).body]);
        for (const { blocks: given } of list)
          for (const block of given)
            if (block.type === "text" && block.text.trim() !== "") expect(said).toContain(block.text.trim());
      }),
    );
  });
});
