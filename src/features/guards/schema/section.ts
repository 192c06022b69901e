/** The options of guards that check answers against schemas. */
import { type Static, Type } from "@sinclair/typebox";
import { CLOSED } from "../../../config/sections/kinds.ts";
import type { JsonObject } from "../../../core/json.ts";

const own = Type.Object(
  {
    tools: Type.Optional(
      Type.Boolean({
        description: "Arguments of tools, against what the request declares of them. Default: false.",
      }),
    ),
    answer: Type.Optional(
      Type.Union([Type.Boolean(), Type.Unsafe<JsonObject>(Type.Object({}, { additionalProperties: true }))], {
        "x-expects": "true, false or a JSON schema",
        description:
          "The text of an answer: `true`, against the schema that the request demands, if it does; a JSON schema: against that, always. Default: false.",
      }),
    ),
  },
  CLOSED,
);

export const SCHEMA = {
  schema: Type.Optional(
    Type.Union([Type.Boolean(), own], {
      "x-expects": "true, or an object with tools and answer",
      examples: [{ tools: true }],
      description:
        "Answers are held until they are whole, and checked against JSON schemas: `true`, the arguments of tools and the text that the request itself demands as JSON.",
    }),
  ),
  repair: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1,
      description:
        "With `schema`: how often weir sends the model the faults and asks it again, before the guard blocks: a call of its own in the books. Default: 0.",
    }),
  ),
};

export type SchemaOption = Static<typeof own> | boolean | undefined;

/** What a guard checks of answers. */
export interface Shape {
  readonly tools: boolean;
  readonly answer: boolean | JsonObject;
  readonly repair: number;
}

/** @returns undefined: nothing */
export function shapeOf(schema: SchemaOption, repair = 0): Shape | undefined {
  if (schema === undefined || schema === false) return undefined;
  if (schema === true) return { tools: true, answer: true, repair };
  const { tools = false, answer = false } = schema;
  return { tools, answer, repair };
}
