/** What must hold for every request that goes to a provider of this format. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Block, ChatRequest, Turn } from "../../../src/core/chat.ts";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { isObject } from "../../../src/core/json.ts";
import { modelFacts } from "../../../src/formats/converse/models.ts";
import { withinBudget } from "../../helpers/within-budget.ts";
import { CLAUDE, encode, GPT_OSS, KIMI, LLAMA, MISTRAL, NOVA, tool } from "./make.ts";

const anyText = fc.constantFrom("", " ", "\n\t", "a", "b c ");
const cache = fc.constantFrom(undefined, {}, { ttl: "1h" as const });
const marked = <Value extends Block>(block: fc.Arbitrary<Value>): fc.Arbitrary<Block> =>
  fc.tuple(block, cache).map(([value, mark]) => (mark ? { ...value, cache: mark } : value));
const texts = marked(anyText.map((text) => ({ type: "text" as const, text })));
const documents = marked(
  fc.constantFrom("text/plain", "text/markdown").map((mediaType) => ({
    type: "document" as const,
    title: "a/b.md",
    source: { type: "text" as const, mediaType, text: "words" },
  })),
);
const pdfs = marked(
  fc.constant({
    type: "document" as const,
    source: { type: "base64" as const, mediaType: "application/pdf", data: "JVBERi0xLjQKJSVFT0Y=" },
  }),
);
const calls = fc
  .constantFrom("a", "b", "functions.f:0", "x".repeat(70))
  .map((id): Block => ({ type: "tool-call", id, name: "f.x", input: "{}", kind: "function" }));
const results = fc
  .tuple(fc.constantFrom("a", "b", "functions.f:0", "zz"), fc.array(texts, { maxLength: 2 }), fc.boolean())
  .map(([id, blocks, error]): Block => ({ type: "tool-result", id, blocks, error }));
const reasoning = fc.constantFrom<Block>(
  { type: "reasoning", text: "r" },
  { type: "reasoning", text: "r", origin: "bedrock" },
  { type: "reasoning", text: "r", signature: "S", origin: "anthropic" },
  { type: "reasoning", text: "", redacted: "R", origin: "bedrock" },
);
const turn: fc.Arbitrary<Turn> = fc.oneof(
  fc.array(texts, { maxLength: 3 }).map((blocks): Turn => ({ role: "system", blocks })),
  fc
    .array(fc.oneof(texts, documents, pdfs, results), { maxLength: 4 })
    .map((blocks): Turn => ({ role: "user", blocks })),
  fc
    .array(fc.oneof(texts, calls, reasoning), { maxLength: 4 })
    .map((blocks): Turn => ({ role: "assistant", blocks })),
);
const requests: fc.Arbitrary<Partial<ChatRequest>> = fc.record({
  turns: fc
    .array(turn, { minLength: 1, maxLength: 8 })
    .filter((list) => list.some(({ role }) => role !== "system")),
  tools: fc.constantFrom([], [tool("f.x")], [tool("f.x", { cache: {} }), tool("other", { description: "" })]),
  toolChoice: fc.constantFrom<ChatRequest["toolChoice"][]>(undefined, { type: "auto" }, { type: "none" }),
  cache: fc.constantFrom(undefined, {}),
});
const models = fc.constantFrom(CLAUDE, NOVA, GPT_OSS, LLAMA, MISTRAL, KIMI, "us.anthropic.claude-opus-5-5");

const objects = (value: Json | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

function everyObject(value: Json | undefined): JsonObject[] {
  if (Array.isArray(value)) return value.flatMap(everyObject);
  return isObject(value) ? [value, ...Object.values(value).flatMap(everyObject)] : [];
}

describe("whatever comes in, the body has the form that the provider demands", () => {
  test("no blank text, no empty list, no element with two keys", () => {
    withinBudget(
      fc.property(requests, models, (request, model) => {
        const { body } = encode(request, { model });
        for (const object of everyObject(body)) {
          if (typeof object.text === "string" && !("signature" in object)) expect(object.text).toMatch(/\S/);
          for (const name of ["content", "tools", "system", "messages"])
            if (Array.isArray(object[name])) expect(object[name]).not.toEqual([]);
        }
        const lists = [
          body.system,
          (body.toolConfig as JsonObject | undefined)?.tools,
          ...objects(body.messages).map(({ content }) => content),
        ];
        for (const element of lists.flatMap(objects)) expect(Object.keys(element)).toHaveLength(1);
        expect(body.toolConfig).not.toEqual({});
      }),
    );
  });

  test("roles alternate from the user on; results answer the calls before them, in order; a history with calls has tools", () => {
    withinBudget(
      fc.property(requests, models, (request, model) => {
        const { body } = encode(request, { model });
        const messages = objects(body.messages);
        let open: string[] = [];
        for (const [index, { role, content }] of messages.entries()) {
          expect(role).toBe(index % 2 === 0 ? "user" : "assistant");
          const blocks = objects(content).filter(({ cachePoint }) => cachePoint === undefined);
          const answered = blocks.filter(({ toolResult }) => toolResult !== undefined);
          expect(blocks.slice(0, answered.length)).toEqual(answered);
          expect(answered.map(({ toolResult }) => String((toolResult as JsonObject).toolUseId))).toEqual(
            open,
          );
          open = blocks.flatMap(({ toolUse }) =>
            toolUse ? [String((toolUse as JsonObject).toolUseId)] : [],
          );
          for (const id of open) expect(id).toMatch(modelFacts(model).toolIds.legal);
          if (open.length > 0) expect(body).toHaveProperty("toolConfig");
        }
        expect(open).toEqual([]);
      }),
    );
  });

  test("documents have unique legal names and a text beside them; at most four cache points, none first or behind a text document", () => {
    withinBudget(
      fc.property(requests, models, (request, model) => {
        const { body } = encode(request, { model });
        const names = everyObject(body).flatMap(({ document }) =>
          isObject(document) ? [String(document.name)] : [],
        );
        expect(new Set(names).size).toBe(names.length);
        for (const name of names) expect(name).toMatch(/^[A-Za-z0-9]+( [A-Za-z0-9]+)*$/);
        expect(
          everyObject(body).filter(({ cachePoint }) => cachePoint !== undefined).length,
        ).toBeLessThanOrEqual(4);
        for (const { content } of objects(body.messages)) {
          const blocks = objects(content);
          const has = (member: string) => blocks.some((block) => block[member] !== undefined);
          if (has("document")) expect(has("text")).toBe(true);
          for (const [at, { cachePoint }] of blocks.entries()) {
            if (cachePoint === undefined) continue;
            const before = blocks[at - 1]!;
            expect(before).toBeDefined();
            if (isObject(before.document)) expect(before.document.format).toBe("pdf");
          }
        }
      }),
    );
  });

  test("the same request gives the same bytes, and each loss is reported once", () => {
    withinBudget(
      fc.property(requests, models, (request, model) => {
        const [first, second] = [encode(request, { model }), encode(structuredClone(request), { model })];
        expect(JSON.stringify(first.body)).toBe(JSON.stringify(second.body));
        expect(new Set(first.losses).size).toBe(first.losses.length);
      }),
    );
  });

  test("no word of the client is lost", () => {
    withinBudget(
      fc.property(requests, models, (request, model) => {
        const said = JSON.stringify(encode(request, { model }).body);
        for (const block of request.turns!.flatMap(({ blocks }) => blocks))
          if (block.type === "text" && /\S/.test(block.text)) expect(said).toContain(block.text.trim());
      }),
    );
  });
});
