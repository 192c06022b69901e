/** The two ways in which Google takes schemas. */
import { describe, expect, test } from "bun:test";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { isObject } from "../../../src/core/json.ts";
import { nativeSchema } from "../../../src/formats/gemini/upstream/schema-doors.ts";
import { openapiSchema } from "../../../src/formats/gemini/upstream/openapi-schema.ts";
import { haveRecordings, NO_RECORDINGS, recordings } from "../../helpers/recordings.ts";

const convert = (schema: JsonObject) => openapiSchema(schema).schema;
const of = (properties: JsonObject) => ({ type: "object", properties });

describe("as JSON schema", () => {
  test("only what Google refuses is changed", () => {
    const kept: JsonObject = {
      type: "object",
      properties: {
        type: { type: ["string", "null"], minLength: 1 },
        $schema: { type: "string" },
        const: { enum: ["a"] },
        list: { type: "array", prefixItems: [{ type: "string" }], items: false },
        any: true,
      },
      additionalProperties: false,
      patternProperties: { "^x": { exclusiveMinimum: 1 } },
    };
    expect(JSON.stringify(nativeSchema(kept))).toBe(JSON.stringify(kept));
    expect(
      nativeSchema({
        $schema: "s",
        $id: "i",
        $comment: "c",
        type: "OBJECT",
        properties: { a: { const: 1 }, b: { $ref: "#/$defs/B", description: "gone" } },
        $defs: { B: { type: "STRING", $comment: "c" } },
      }),
    ).toEqual({
      type: "object",
      properties: { a: { enum: [1] }, b: { $ref: "#/$defs/B" } },
      $defs: { B: { type: "string" } },
    });
  });
});

describe("as the subset of OpenAPI", () => {
  const rows: [string, JsonObject, JsonObject][] = [
    ["a type", { type: "string" }, { type: "STRING" }],
    ["an unknown type", { type: "blob" }, {}],
    ["a type or null", { type: ["integer", "null"] }, { nullable: true, type: "INTEGER" }],
    ["several types", { type: ["string", "number"] }, { anyOf: [{ type: "STRING" }, { type: "NUMBER" }] }],
    ["only null", { type: "null" }, { nullable: true, type: "STRING" }],
    ["a constant", { const: "a" }, { enum: ["a"], format: "enum", type: "STRING" }],
    [
      "an enum with null",
      { enum: ["a", null] },
      { nullable: true, enum: ["a"], format: "enum", type: "STRING" },
    ],
    [
      "an enum of numbers",
      { type: "integer", enum: [1, 2] },
      { type: "INTEGER", enum: ["1", "2"], format: "enum" },
    ],
    ["an enum of several kinds", { enum: ["a", 1] }, { description: 'Constraint one of: ["a",1].' }],
    [
      "an alternative to null",
      { description: "d", anyOf: [{ type: "string", description: "inner" }, { type: "null" }] },
      { nullable: true, type: "STRING", description: "d" },
    ],
    [
      "oneOf",
      { oneOf: [{ type: "string" }, { type: "number" }] },
      { anyOf: [{ type: "STRING" }, { type: "NUMBER" }] },
    ],
    [
      "allOf",
      {
        allOf: [
          { ...of({ a: { type: "string" } }), required: ["a"] },
          { ...of({ b: { const: "x" } }), required: ["b"] },
        ],
      },
      {
        type: "OBJECT",
        properties: { a: { type: "STRING" }, b: { type: "STRING", enum: ["x"], format: "enum" } },
        required: ["a", "b"],
      },
    ],
    [
      "a reference",
      {
        ...of({ a: { $ref: "#/$defs/A", description: "mine" } }),
        $defs: { A: { type: "string", description: "x" } },
      },
      { type: "OBJECT", properties: { a: { type: "STRING", description: "mine" } } },
    ],
    ["an array without items", { type: "array" }, { type: "ARRAY", items: { type: "OBJECT" } }],
    [
      "counts",
      { type: "string", minLength: 1, maxLength: 9 },
      { type: "STRING", minLength: "1", maxLength: "9" },
    ],
    ["a format", { type: "string", format: "uri" }, { type: "STRING", description: "Format: uri." }],
    ["a known format", { type: "string", format: "date-time" }, { type: "STRING", format: "date-time" }],
    [
      "a constraint that Google does not know",
      { type: "number", description: "A price.", exclusiveMinimum: 0 },
      { type: "NUMBER", description: "A price. Constraint exclusiveMinimum: 0." },
    ],
    [
      "required names without a property",
      { ...of({ a: { type: "string" } }), required: ["a", "b"] },
      { type: "OBJECT", properties: { a: { type: "STRING" } }, required: ["a"] },
    ],
    ["a boolean schema", of({ a: true }), { type: "OBJECT", properties: { a: { type: "OBJECT" } } }],
    ["additionalProperties", { type: "object", additionalProperties: false }, { type: "OBJECT" }],
  ];
  test.each(rows)("%s", (_name, schema, expected) => expect(convert(schema)).toEqual(expected));

  test("properties named like keywords survive", () => {
    const names = ["type", "format", "default", "required", "enum", "$ref", "properties", "__proto__"];
    const schema = of(Object.fromEntries(names.map((name) => [name, { type: "string" }])));
    expect(Object.keys(convert(schema)["properties"] as JsonObject)).toEqual(names);
  });

  test("a recursive reference ends, and is a loss", () => {
    const { schema, described } = openapiSchema({
      ...of({ root: { $ref: "#/$defs/Node" } }),
      $defs: { Node: of({ next: { $ref: "#/$defs/Node" } }) },
    });
    expect(JSON.stringify(schema)).toContain("A nested value of the same kind.");
    expect(described).toBe(true);
    expect(allowedFaults(schema)).toEqual([]);
  });

  if (!haveRecordings) console.log(NO_RECORDINGS);

  test.if(haveRecordings)("schemas of real tools have no keyword outside of the subset", () => {
    const schemas = ["chat", "messages", "gemini"].flatMap((api) =>
      recordings({ api }).flatMap(({ request }) => schemasIn(request?.body ?? {})),
    );
    const distinct = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
    expect(distinct.length).toBeGreaterThan(60);
    for (const schema of distinct) expect(allowedFaults(convert(schema))).toEqual([]);
  });
});

const ALLOWED =
  "type format title description nullable enum maxItems minItems properties required minProperties maxProperties minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum".split(
    " ",
  );

/** Keywords of a schema that Google's subset does not have. */
function allowedFaults(schema: JsonObject): string[] {
  return Object.entries(schema).flatMap(([name, value]) => {
    if (!ALLOWED.includes(name)) return [name];
    if (name === "properties")
      return Object.values(value as JsonObject).flatMap((one) => allowedFaults(one as JsonObject));
    if (name === "items") return allowedFaults(value as JsonObject);
    if (name === "anyOf") return (value as JsonObject[]).flatMap(allowedFaults);
    return [];
  });
}

function schemasIn(value: unknown): JsonObject[] {
  if (Array.isArray(value)) return value.flatMap(schemasIn);
  if (!isObject(value as Json)) return [];
  return Object.entries(value as JsonObject).flatMap(([name, inner]) =>
    /^(?:parameters|input_schema|parametersJsonSchema)$/.test(name) && isObject(inner ?? null)
      ? [inner as JsonObject]
      : schemasIn(inner),
  );
}
