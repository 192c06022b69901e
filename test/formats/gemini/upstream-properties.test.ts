/** What every request for Google's hosts keeps, whatever the history: checked on random histories. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Block, ChatRequest, Turn } from "../../../src/core/chat.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { SENTINEL } from "../../../src/formats/gemini/reasoning.ts";
import { call, encode, PLAIN, result, signed, text } from "./make.ts";
import { IS_LONG } from "../../helpers/effort.ts";

const RUNS = { numRuns: IS_LONG ? 10_000 : 1_000 };

const id = fc.constantFrom("a", "b", "call_g_x", "c c");
const anyText = fc.constantFrom("", " ", "\n", "one", "two\n");
const PIXEL: Block = {
  type: "image",
  source: { type: "base64", mediaType: "image/png", data: "iVBORw0KGgo=" },
};

const said: fc.Arbitrary<Block> = fc.oneof(
  anyText.map(text),
  fc.tuple(id, fc.constantFrom("f", "g.h")).map(([of, name]) => call(of, name, '{"x":1}')),
  fc
    .tuple(fc.constantFrom("S1", "S2", "S3"), anyText)
    .map(([signature, thoughts]) => signed(signature, thoughts)),
  fc.constant<Block>({ type: "reasoning", text: "hm", signature: "foreign", origin: "anthropic" }),
  fc.constant<Block>({ type: "reasoning", text: "", redacted: "own", origin: "google" }),
  fc.constant<Block>({ type: "refusal", text: "no" }),
);
const asked: fc.Arbitrary<Block> = fc.oneof(
  anyText.map(text),
  fc.tuple(id, anyText).map(([of, value]) => result(of, value)),
  id.map((of) => result(of, [PIXEL])),
  fc.constant(PIXEL),
);
const turn: fc.Arbitrary<Turn> = fc.oneof(
  fc.array(said, { maxLength: 5 }).map((blocks): Turn => ({ role: "assistant", blocks })),
  fc.array(asked, { maxLength: 5 }).map((blocks): Turn => ({ role: "user", blocks })),
  anyText.map((value): Turn => ({ role: "system", blocks: [text(value)] })),
);
const history = fc.array(turn, { maxLength: 8 }).map((turns): ChatRequest => ({
  ...PLAIN,
  turns: [...turns, { role: "user", blocks: [text("Go on.")] }],
}));
const model = fc.constantFrom("gemini-3-flash-preview", "gemini-2.5-flash", "gemma-3-27b-it");

const responsesIn = (parts: readonly JsonObject[]) => parts.filter((part) => part["functionResponse"]);
const callsIn = (parts: readonly JsonObject[]) => parts.filter((part) => part["functionCall"]);
const nameOf = (part: JsonObject) =>
  ((part["functionCall"] ?? part["functionResponse"]) as JsonObject)["name"];
const idOf = (part: JsonObject) => ((part["functionCall"] ?? part["functionResponse"]) as JsonObject)["id"];

test("contents begin with the user, take turns and have no empty parts", () => {
  fc.assert(
    fc.property(history, model, (request, name) => {
      const { contents } = encode(request, { model: name });
      expect(contents[0]!.role).toBe("user");
      expect(contents.at(-1)!.role).toBe("user");
      for (const [at, { role, parts }] of contents.entries()) {
        expect(parts.length).toBeGreaterThan(0);
        for (const part of parts)
          expect(part["text"] !== "" || part["thoughtSignature"] !== undefined).toBe(true);
        const before = contents[at - 1];
        // Only function responses, which stand alone, may be followed by the same role.
        if (before?.role === role) expect(responsesIn(before.parts).length).toBe(before.parts.length);
      }
    }),
    RUNS,
  );
});

test("the responses behind the calls have their number, order, names and ids, and stand alone", () => {
  fc.assert(
    fc.property(history, model, (request, name) => {
      const { contents } = encode(request, { model: name });
      for (const [at, { parts }] of contents.entries()) {
        const responses = responsesIn(parts);
        if (responses.length > 0) {
          expect(responses.length).toBe(parts.length);
          expect(callsIn(contents[at - 1]!.parts).map(nameOf)).toEqual(responses.map(nameOf));
        }
        const calls = callsIn(parts);
        if (calls.length === 0) continue;
        const answers = responsesIn(contents[at + 1]!.parts);
        expect(answers.map((part) => [nameOf(part), idOf(part)])).toEqual(
          calls.map((part) => [nameOf(part), idOf(part)]),
        );
        expect(new Set(calls.map(idOf)).size).toBe(calls.length);
      }
    }),
    RUNS,
  );
});

test("no signature of another vendor is sent, and the placeholder stands on first calls only", () => {
  fc.assert(
    fc.property(history, model, (request, name) => {
      const { contents, body } = encode(request, { model: name });
      expect(JSON.stringify(body)).not.toContain("foreign");
      for (const { parts } of contents) {
        const [first, ...others] = callsIn(parts);
        expect(others.some((part) => part["thoughtSignature"] === SENTINEL)).toBe(false);
        if (first && name.startsWith("gemini-3")) expect(first["thoughtSignature"]).toBeString();
        if (!name.startsWith("gemini-3")) expect(first?.["thoughtSignature"]).not.toBe(SENTINEL);
      }
    }),
    RUNS,
  );
});

test("equal histories give equal bytes, and a further turn keeps the contents before it", () => {
  fc.assert(
    fc.property(history, model, (request, name) => {
      const once = encode(request, { model: name });
      expect(JSON.stringify(encode(structuredClone(request), { model: name }).body)).toBe(
        JSON.stringify(once.body),
      );
      const more = { ...request, turns: [...request.turns, ...next] };
      const longer = encode(more, { model: name }).contents;
      expect(longer.slice(0, once.contents.length)).toEqual(once.contents);
    }),
    { numRuns: IS_LONG ? 2_500 : 250 },
  );
});

const next: Turn[] = [
  { role: "assistant", blocks: [text("Well.")] },
  { role: "user", blocks: [text("And?")] },
];
