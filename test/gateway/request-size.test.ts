/** The size of a request is the same whether weir reads it in blocks or as a whole, and however its JSON is spelled. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Call } from "../../src/core/call.ts";
import type { ClientCodec } from "../../src/core/format.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { chatCompletionsFormat } from "../../src/formats/chat-completions/index.ts";
import { geminiFormat } from "../../src/formats/gemini/index.ts";
import { createMessagesFormat } from "../../src/formats/messages/index.ts";
import { responsesFormat } from "../../src/formats/responses/index.ts";
import { sizeOf } from "../../src/gateway/request-size.ts";
import { RequestBody } from "../../src/server/request-body.ts";
import { layoutOf } from "../../src/stream/outline/layout.ts";
import { withinBudget } from "../helpers/within-budget.ts";

const CLIENTS: ClientCodec[] = [
  chatCompletionsFormat.client!,
  createMessagesFormat({ systemTurns: "accept" }).client!,
  responsesFormat.client,
  geminiFormat.client!,
];

function bodyOf(text: string): RequestBody | undefined {
  try {
    return new RequestBody(new TextEncoder().encode(text), 128);
  } catch {
    return undefined;
  }
}

/** The size of a request, read in blocks and as a whole; undefined for one that weir refuses or only reads as a whole. */
function sizes(text: string, client: ClientCodec) {
  const { bytes, short } = bodyOf(text) ?? {};
  if (!bytes || !short || !layoutOf(bytes)) return undefined;
  const json = JSON.parse(text) as JsonObject;
  const body = client.routes.address ? { ...json, model: "a-model", stream: true } : json;
  const incoming = { bytes, body, call: { model: "a-model", stream: true } as Call, format: { client } };
  return { blocks: sizeOf(incoming), whole: sizeOf({ body, format: { client } }) };
}

/** Names that decide something in one of the formats, and others. */
const NAMES = [
  ...[
    "model",
    "stream",
    "messages",
    "tools",
    "system",
    "input",
    "contents",
    "type",
    "text",
    "content",
    "role",
  ],
  ...[
    "name",
    "parameters",
    "function",
    "tool_calls",
    "generationConfig",
    "maxOutputTokens",
    "max_tokens",
    "n",
  ],
  ...[
    "service_tier",
    "speed",
    "googleSearch",
    "functions",
    "web_search_options",
    "arguments",
    "__proto__",
    "é",
  ],
  ...["source", "media_type", "image_url", "inlineData", "mimeType"],
];
const UNITS = ["a", "Z", "9", " ", '"', "\\", "\n", "\u0001", "é", "漢", "𝄞", "\ud834", "/", "~", "{", "]"];

const strings = fc.oneof(
  fc.string({ unit: fc.constantFrom(...UNITS), maxLength: 60 }),
  fc.constantFrom("web_search", "web_search_20250305", "base64", "image/png", "flex", "~", "iVBORw0KGgo="),
  fc.string({ unit: fc.constantFrom(...UNITS), maxLength: 20 }).map((unit) => unit.repeat(80)),
);
const names = fc.oneof(
  fc.constantFrom(...NAMES),
  fc.string({ unit: fc.constantFrom(...UNITS), maxLength: 50 }),
);
const values = fc.letrec<{ value: Json; list: Json[]; group: JsonObject }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    strings,
    fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constant(1e21)),
    fc.boolean(),
    fc.constant(null),
    tie("list"),
    tie("group"),
  ),
  list: fc.array(tie("value"), { maxLength: 6 }),
  group: fc.dictionary(names, tie("value"), { maxKeys: 5 }),
}));
/** Lists of many elements, and single values. */
const members = fc.oneof(
  values.value,
  fc
    .tuple(fc.array(values.value, { maxLength: 8 }), fc.nat(20))
    .map(([few, times]) => Array.from({ length: times }, () => few).flat()),
);
const bodies = fc.dictionary(names, members, { minKeys: 1, maxKeys: 6 });

/** Writes JSON in another way: white space, escapes, numbers. @param choose a number below another one */
function spell(value: Json | undefined, choose: (below: number) => number): string {
  const space = () => ["", "", " ", "\n\t"][choose(4)]!;
  if (typeof value === "string") return spellText(value, choose);
  if (typeof value === "number") return spellNumber(value, choose);
  if (Array.isArray(value))
    return `[${space()}${value.map((each) => spell(each, choose)).join(`${space()},${space()}`)}${space()}]`;
  if (typeof value !== "object" || value === null) return String(value);
  const written = Object.entries(value).map(
    ([name, inner]) => `${spellText(name, choose)}${space()}:${space()}${spell(inner, choose)}`,
  );
  return `{${space()}${written.join(`${space()},${space()}`)}${space()}}`;
}

function spellText(text: string, choose: (below: number) => number): string {
  const all = choose(8) === 0;
  const written = Array.from({ length: text.length }, (_, at) => text[at]!).map((unit) => {
    const escaped = `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
    if (all || (unit >= "\ud800" && unit <= "\udfff"))
      return choose(2) === 0 ? escaped : escaped.toUpperCase().replace("U", "u");
    return choose(20) === 0
      ? escaped
      : unit === "/" && choose(2) === 0
        ? "\\/"
        : JSON.stringify(unit).slice(1, -1);
  });
  return `"${written.join("")}"`;
}

function spellNumber(value: number, choose: (below: number) => number): string {
  if (!Number.isInteger(value) || Math.abs(value) > 1e15 || Object.is(value, -0)) return String(value);
  return [`${value}`, `${value}.0`, `${value}e0`, `${value}0E-1`][choose(4)]!;
}

/** Numbers that a seed decides. */
function chooser(seed: number): (below: number) => number {
  let state = seed + 1;
  return (below) => (state = (state * 48271) % 0x7fffffff) % below;
}

test("blocks and the whole have one size, whatever the spelling", () => {
  let compared = 0;
  withinBudget(
    fc.property(fc.constantFrom(...CLIENTS), bodies, fc.nat(1e9), (client, body, seed) => {
      for (const text of [JSON.stringify(body), spell(body, chooser(seed))])
        // The second reading finds the blocks of the first.
        for (let reading = 0; reading < 2; reading++) {
          const found = sizes(text, client);
          if (found) compared++;
          expect(found?.blocks).toEqual(found?.whole);
        }
    }),
  );
  expect(compared).toBeGreaterThan(20);
});

test("what is added to a conversation is counted, and nothing else twice", () => {
  const [client] = CLIENTS;
  const turn = (at: number) => ({ role: "user", content: `Turn ${at}: ${"word ".repeat(100 + (at % 7))}` });
  const turns = Array.from({ length: 60 }, (_, at) => turn(at));
  for (let length = 1; length <= turns.length; length++) {
    const { blocks, whole } = sizes(
      JSON.stringify({ model: "m", pad: "x ".repeat(3000), messages: turns.slice(0, length) }),
      client!,
    )!;
    expect(blocks).toEqual(whole);
  }
});

test("a list and its only element are two things", () => {
  const [client] = CLIENTS;
  const element = { text: "word ".repeat(2000) };
  for (const other of [element, [element], [[element]]]) {
    const { blocks, whole } = sizes(JSON.stringify({ model: "m", other }), client!)!;
    expect(blocks).toEqual(whole);
  }
});
