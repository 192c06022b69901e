import { describe, expect, test } from "bun:test";
import type { TSchema } from "@sinclair/typebox";
import { FormatRegistry, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { samplePattern } from "../../../plugins/mock/pattern.ts";
import { makeInstance } from "../../../plugins/mock/schema.ts";
import { textOf } from "../../helpers/describe-events.ts";
import { askAll, request } from "./ask.ts";

const FORMATS: Record<string, (text: string) => boolean> = {
  "date-time": (text) => !Number.isNaN(Date.parse(text)),
  date: (text) => /^\d{4}-\d{2}-\d{2}$/.test(text),
  email: (text) => /^\S+@\S+\.\S+$/.test(text),
  uri: (text) => URL.canParse(text),
  uuid: (text) => /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(text),
  ipv4: (text) => /^(\d{1,3}\.){3}\d{1,3}$/.test(text),
};
for (const [name, check] of Object.entries(FORMATS)) FormatRegistry.Set(name, check);

/** The schema as it arrives on the wire: without TypeBox's symbols. */
function onTheWire(schema: TSchema): JsonObject {
  return JSON.parse(JSON.stringify(schema)) as JsonObject;
}

const Node = Type.Recursive((Self) =>
  Type.Object({ value: Type.Integer(), next: Type.Union([Self, Type.Null()]), children: Type.Array(Self) }),
);

const SCHEMAS: Record<string, TSchema> = {
  "every plain type": Type.Object({
    text: Type.String(),
    number: Type.Number(),
    whole: Type.Integer(),
    flag: Type.Boolean(),
    nothing: Type.Null(),
    list: Type.Array(Type.String()),
  }),
  "members that may be missing": Type.Object({ a: Type.String(), b: Type.Optional(Type.Integer()) }),
  "no other members": Type.Object({ a: Type.String() }, { additionalProperties: false }),
  "objects in lists in objects": Type.Object({
    people: Type.Array(
      Type.Object({
        name: Type.String(),
        tags: Type.Array(Type.String(), { minItems: 2, uniqueItems: true }),
      }),
      { minItems: 3 },
    ),
  }),
  enumerations: Type.Object({
    unit: Type.Union([Type.Literal("C"), Type.Literal("F")]),
    always: Type.Literal("this"),
    one: Type.Literal(1),
  }),
  "a union with null": Type.Object({ name: Type.Union([Type.String(), Type.Null()]) }),
  "an intersection": Type.Intersect([Type.Object({ a: Type.String() }), Type.Object({ b: Type.Integer() })]),
  recursion: Node,
  "lengths of texts": Type.Object({
    long: Type.String({ minLength: 50 }),
    short: Type.String({ maxLength: 3 }),
    exact: Type.String({ minLength: 7, maxLength: 7 }),
  }),
  "bounds of numbers": Type.Object({
    above: Type.Number({ minimum: 1000 }),
    below: Type.Number({ maximum: -1000 }),
    between: Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 0.001 }),
    port: Type.Integer({ minimum: 1024, maximum: 65535 }),
    open: Type.Integer({ exclusiveMinimum: 41, exclusiveMaximum: 43 }),
    even: Type.Integer({ multipleOf: 2, minimum: 101 }),
    quarter: Type.Number({ multipleOf: 0.25, minimum: 100.1 }),
    negative: Type.Integer({ multipleOf: 5, maximum: -3 }),
  }),
  formats: Type.Object(
    Object.fromEntries(Object.keys(FORMATS).map((format) => [format, Type.String({ format })])),
  ),
  patterns: Type.Object({
    code: Type.String({ pattern: "^[A-Z]{3}-\\d{4}$" }),
    colour: Type.String({ pattern: "^#(?:[0-9a-f]{3}){1,2}$" }),
    slug: Type.String({ pattern: "^[a-z0-9]+(-[a-z0-9]+)*$", minLength: 20, maxLength: 20 }),
  }),
  "numbers of items": Type.Object({
    pair: Type.Tuple([Type.String(), Type.Integer()]),
    none: Type.Array(Type.String(), { maxItems: 0 }),
    many: Type.Array(Type.Integer({ minimum: 1, maximum: 40 }), { minItems: 12, uniqueItems: true }),
  }),
  "items that must differ": Type.Object({
    objects: Type.Array(Type.Object({ id: Type.Integer({ minimum: 10 }) }), {
      minItems: 30,
      uniqueItems: true,
    }),
    steps: Type.Array(Type.Number({ multipleOf: 0.5, maximum: 3 }), { minItems: 30, uniqueItems: true }),
    shares: Type.Array(Type.Number({ minimum: 0, maximum: 1 }), { minItems: 30, uniqueItems: true }),
    flags: Type.Array(Type.Boolean(), { minItems: 2, uniqueItems: true }),
    texts: Type.Array(Type.String({ format: "uuid" }), { minItems: 5, uniqueItems: true }),
  }),
  "a map": Type.Record(Type.String(), Type.Integer(), { minProperties: 2 }),
  "a plain text": Type.String(),
  anything: Type.Object({ any: Type.Unknown() }),
  "names every object has": Type.Object({ constructor: Type.String(), toString: Type.Integer() }),
};

describe("an instance of a schema is valid", () => {
  for (const [name, schema] of Object.entries(SCHEMAS))
    test(name, () => {
      for (const seed of ["a", "b", "c", "d"]) {
        const made = makeInstance(onTheWire(schema), seed);
        const faults = [...Value.Errors(schema, made)].map((fault) => `${fault.path}: ${fault.message}`);
        expect(faults).toEqual([]);
      }
    });
});

describe("an instance", () => {
  const cases: [string, JsonObject, Json][] = [
    ["follows $ref", { $ref: "#/$defs/a~1b", $defs: { "a/b": { const: 7 } } }, 7],
    ["has a type where only keywords tell it", { properties: { a: { minimum: 5, maximum: 5 } } }, { a: 5 }],
    ["shows what the schema shows", { type: "string", examples: ["Oslo"] }, "Oslo"],
    ["does not show what has another type", { type: "integer", default: null, minimum: 3, maximum: 3 }, 3],
    ["takes the first type that is not null", { type: ["null", "boolean"], const: true }, true],
    ["has all members where none is required", { type: "object", properties: { a: { const: 1 } } }, { a: 1 }],
    ["has none where the list says so", { type: "object", properties: { a: {} }, required: [] }, {}],
    ["has required members nobody describes", { type: "object", required: ["x"] }, { x: "mock x" }],
    ["joins allOf", { allOf: [{ required: ["a"] }, { properties: { a: { const: 1 } } }] }, { a: 1 }],
    ["takes legacy exclusive bounds", { type: "integer", minimum: 4, exclusiveMinimum: true, maximum: 5 }, 5],
    ["is something even where a reference leads nowhere", { $ref: "#/$defs/none" }, "mock"],
    ["follows anchors", { $ref: "#n", $defs: { node: { $anchor: "n", const: 1 } } }, 1],
    ["is null where nothing is allowed", { type: "object", properties: { a: false } }, { a: null }],
  ];
  for (const [what, schema, made] of cases)
    test(what, () => expect(makeInstance(schema, "seed")).toEqual(made));

  test("differs with the seed and not otherwise", () => {
    const schema = { type: "integer", minimum: 1, maximum: 9 };
    const made = new Set(["a", "b", "c", "d", "e", "f"].map((seed) => makeInstance(schema, seed)));
    expect(made.size).toBeGreaterThan(1);
    expect(makeInstance(schema, "a")).toBe(makeInstance(schema, "a"));
  });

  const Self = { $ref: "#" };
  const hungry: Record<string, JsonObject> = {
    "a thousand lists of a thousand lists": {
      type: "array",
      minItems: 1000,
      items: { type: "array", minItems: 1000, items: { type: "array", minItems: 1000, items: Self } },
    },
    "a schema that includes itself three times": { allOf: [Self, Self, Self] },
    "a hundred members of its own kind": {
      type: "object",
      properties: Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`p${index}`, Self])),
    },
    "an object that requires itself": { type: "object", properties: { self: Self }, required: ["self"] },
    "a text of a billion letters": { type: "string", minLength: 1e9 },
  };
  for (const [name, schema] of Object.entries(hungry))
    test(`stays small for ${name}`, () => {
      const before = performance.now();
      expect(JSON.stringify(makeInstance(schema, "seed")).length).toBeLessThan(100_000);
      expect(performance.now() - before).toBeLessThan(500);
    });
});

describe("a sampled pattern", () => {
  const understood = [
    "^[A-Z]{3}$",
    "^\\d{4}-\\d{2}-\\d{2}$",
    "^(foo|bar)+$",
    "^[^@\\s]+@[^@\\s]+\\.[a-z]{2,}$",
    "^\\+?[1-9]\\d{1,14}$",
    "^[\\w.-]+$",
    "^(?<year>\\d{4})(?:/(?<month>\\d\\d))?$",
    "^a{2,}?b*?$",
    "^[\\]a-]{2}$",
    "^\\S\\D\\W$",
    "^v\\d+\\.\\d+\\.\\d+$",
    "^$",
    "^.{5}$",
    "^https?:\\/\\/[^\\s]+$",
  ];
  for (const source of understood)
    test(`matches ${source}`, () => expect(samplePattern(source, 0, 1000)).toMatch(new RegExp(source, "u")));

  test("has the length that is asked for", () => {
    expect(samplePattern("^[a-z]+$", 50, 60)).toHaveLength(50);
    expect(samplePattern("^[a-z]{3}$", 5, 9)).toBeUndefined();
  });

  for (const source of ["(?=x)a", "(a)\\1", "^\\p{L}+$", "[", "(", "a".repeat(2000)])
    test(`is not made of ${source.slice(0, 20)}`, () => {
      expect(samplePattern(source, 0, 1000)).toBeUndefined();
    });

  test("is never run: an expression that takes for ever costs nothing", () => {
    const before = performance.now();
    samplePattern("^(a+)+$b", 100, 200);
    samplePattern("^((a{9999}){9999}){9999}$", 0, 100);
    expect(performance.now() - before).toBeLessThan(100);
  });
});

describe("structured answers", () => {
  test("a schema is answered with an instance of it, and nothing else", async () => {
    const schema = SCHEMAS["every plain type"]!;
    const answerFormat = { type: "json-schema", schema: onTheWire(schema), strict: true } as const;
    const text = textOf(await askAll(request("chat", "Go", { answerFormat })));
    expect(Value.Check(schema, JSON.parse(text))).toBe(true);
  });

  test("plain JSON is answered with an object", async () => {
    const text = textOf(await askAll(request("chat", "Go", { answerFormat: { type: "json" } })));
    expect(JSON.parse(text)).toEqual({ answer: expect.stringContaining("weir's mock") });
  });
});
