import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { flattenRoot, sanitiseSchema } from "../../../src/formats/shared/claude-schema.ts";
import { brokenRules, lostConstraints } from "./schema-rules.ts";
import { withinBudget } from "../../helpers/within-budget.ts";

const clean = (schema: JsonObject) => sanitiseSchema(schema).schema;

describe("what is moved, changed and kept", () => {
  test("objects are closed at every level", () => {
    const inner = { type: "object", properties: { b: { type: "string" } } };
    expect(
      clean({ type: "object", properties: { a: inner, list: { type: "array", items: inner } } }),
    ).toEqual({
      type: "object",
      properties: {
        a: { ...inner, additionalProperties: false },
        list: { type: "array", items: { ...inner, additionalProperties: false } },
      },
      additionalProperties: false,
    });
    expect(sanitiseSchema({ type: "object", properties: {} }).changed).toBe(false);
  });

  test("constraints go into the description, behind what it says", () => {
    expect(clean({ type: "string", description: "A name.", minLength: 2, maxLength: 9 })).toEqual({
      type: "string",
      description: "A name.\n\n{minLength: 2, maxLength: 9}",
    });
    expect(sanitiseSchema({ type: "integer", minimum: 1, exclusiveMaximum: 5, multipleOf: 2 })).toMatchObject(
      {
        changed: true,
        schema: { type: "integer", description: "{minimum: 1, exclusiveMaximum: 5, multipleOf: 2}" },
      },
    );
  });

  test("known formats, simple patterns and small minItems stay", () => {
    const kept: JsonObject[] = [
      { type: "string", format: "date-time" },
      { type: "string", pattern: "^[a-z]{2,4}(?:-\\d+)?$" },
      { type: "array", minItems: 1, items: { type: "string" } },
      { type: ["string", "null"], enum: ["a", null] },
    ];
    for (const schema of kept) expect(sanitiseSchema(schema)).toMatchObject({ schema, changed: false });
    const moved: JsonObject[] = [
      { type: "string", format: "phone" },
      { type: "string", pattern: "^(?=a)" },
      { type: "string", pattern: "\\bx" },
      { type: "array", minItems: 2 },
    ];
    for (const schema of moved) expect(sanitiseSchema(schema).changed).toBe(true);
  });

  test("oneOf becomes anyOf; what says nothing goes without a word", () => {
    expect(sanitiseSchema({ oneOf: [{ type: "string" }, { type: "null" }] })).toMatchObject({
      changed: true,
      schema: { anyOf: [{ type: "string" }, { type: "null" }] },
    });
    expect(sanitiseSchema({ $schema: "x", $id: "y", $comment: "z", type: "string" })).toMatchObject({
      changed: false,
      schema: { type: "string" },
    });
  });

  test("a dictionary is closed like the rest, and says what it was", () => {
    expect(clean({ type: "object", additionalProperties: { type: "string" } })).toEqual({
      type: "object",
      additionalProperties: false,
      description: '{additionalProperties: {"type":"string"}}',
    });
    expect(sanitiseSchema({ type: "object" }).changed).toBe(true);
    expect(sanitiseSchema({ type: "object", additionalProperties: false }).changed).toBe(false);
  });

  test("a member called like a keyword is a member", () => {
    const schema: JsonObject = {
      type: "object",
      properties: { minimum: { type: "integer" }, $schema: { type: "string" } },
    };
    expect(clean(schema).properties).toEqual(schema.properties);
  });

  test("keywords every object has are no keywords", () => {
    const schema = JSON.parse(
      '{"type":"string","constructor":1,"__proto__":{"type":"integer"}}',
    ) as JsonObject;
    expect(clean(schema)).toEqual({
      type: "string",
      description: '{constructor: 1, __proto__: {"type":"integer"}}',
    });
    const members = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"}}}',
    ) as JsonObject;
    expect(JSON.stringify(clean(members))).toContain('"__proto__":{"type":"string"}');
  });

  test("the schema itself is left alone", () => {
    const schema: JsonObject = { type: "object", properties: { a: { type: "string", minLength: 1 } } };
    const before = JSON.stringify(schema);
    sanitiseSchema(schema);
    expect(JSON.stringify(schema)).toBe(before);
  });
});

describe("references", () => {
  const defs = (next: Json): JsonObject => ({
    $defs: { node: { type: "object", properties: { next } } },
    $ref: "#/$defs/node",
  });

  test("kept, unless they come back to themselves", () => {
    expect(sanitiseSchema(defs({ type: "string" }))).toMatchObject({
      recursive: false,
      schema: { $ref: "#/$defs/node" },
    });
    expect(sanitiseSchema(defs({ $ref: "#/$defs/node" })).recursive).toBe(true);
    expect(sanitiseSchema({ type: "array", items: { $ref: "#" } }).recursive).toBe(true);
  });

  test("used twice is not recursive; through another is", () => {
    const twice: JsonObject = {
      $defs: { s: { type: "string" } },
      properties: { a: { $ref: "#/$defs/s" }, b: { $ref: "#/$defs/s" } },
    };
    expect(sanitiseSchema(twice).recursive).toBe(false);
    const ring: JsonObject = {
      $defs: { a: { items: { $ref: "#/$defs/b" } }, b: { items: { $ref: "#/$defs/a" } } },
      $ref: "#/$defs/a",
    };
    expect(sanitiseSchema(ring).recursive).toBe(true);
  });
});

test("counted over the whole schema: members that may be left out, members of several types", () => {
  const inner = { type: "object", properties: { x: { type: ["string", "null"] } } };
  expect(
    sanitiseSchema({ type: "object", properties: { a: inner, b: { anyOf: [{}, {}] } }, required: ["a"] }),
  ).toMatchObject({
    optional: 2,
    unions: 2,
  });
});

describe("a tool's root", () => {
  test("has the type object, and keeps what it says", () => {
    expect(flattenRoot({ properties: {} })).toEqual({
      schema: { type: "object", properties: {} },
      changed: false,
    });
    expect(flattenRoot({ type: "object", description: "d" }).schema).toEqual({
      type: "object",
      description: "d",
    });
  });

  test("alternatives inside alternatives are merged too", () => {
    const leaf = (name: string) => ({ properties: { [name]: {} }, required: [name] });
    const { schema } = flattenRoot({
      oneOf: [{ anyOf: [leaf("a"), leaf("b")] }, leaf("c")],
      properties: { d: {} },
      required: ["d"],
    });
    expect(Object.keys(schema.properties as JsonObject).toSorted()).toEqual(["a", "b", "c", "d"]);
    expect(schema.required).toEqual(["d"]);
  });
});

const anySchema: fc.Arbitrary<JsonObject> = fc.letrec<{ schema: JsonObject }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    fc.record(
      {
        type: fc.constantFrom("string", "integer", "boolean"),
        minLength: fc.nat(9),
        maximum: fc.nat(99),
        format: fc.constantFrom("date", "odd"),
      },
      { requiredKeys: ["type"] },
    ) as fc.Arbitrary<JsonObject>,
    fc.record(
      {
        type: fc.constant("object"),
        properties: fc.dictionary(fc.constantFrom("a", "b", "pattern", "items"), tie("schema")),
        additionalProperties: fc.oneof(fc.boolean(), tie("schema")),
        minProperties: fc.nat(3),
      },
      { requiredKeys: ["type"] },
    ) as fc.Arbitrary<JsonObject>,
    fc.record(
      { type: fc.constant("array"), items: tie("schema"), maxItems: fc.nat(5), uniqueItems: fc.boolean() },
      { requiredKeys: ["type"] },
    ) as fc.Arbitrary<JsonObject>,
    fc.record({ oneOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }) }) as fc.Arbitrary<JsonObject>,
    fc.record({
      allOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
      title: fc.constant("t"),
    }) as fc.Arbitrary<JsonObject>,
  ),
})).schema;

test("whatever comes in, what goes out keeps the rules, and no constraint is forgotten", () => {
  withinBudget(
    fc.property(anySchema, (schema) => {
      const out = clean(schema);
      expect(brokenRules(out)).toEqual([]);
      // A moved schema stands as JSON inside a JSON text.
      expect(
        lostConstraints(
          { ...schema, additionalProperties: undefined },
          JSON.stringify(out)
            .replaceAll("\\", "")
            .replace(/"(\w+)":/g, "$1: "),
        ),
      ).toEqual([]);
      expect(clean(out)).toEqual(out);
    }),
  );
});
