/** Schemas that a plugin writes as plain JSON, and the types of the values that they describe. */
import type { Json } from "./json.ts";

/** A schema of one value: the keywords of JSON Schema that weir checks. */
export type OptionSchema = {
  readonly type?: "string" | "number" | "integer" | "boolean" | "array" | "object";
  readonly description?: string;
  readonly default?: Json;
  readonly examples?: Json[];
  readonly enum?: (string | number | boolean)[];
  readonly anyOf?: OptionSchema[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
  readonly items?: OptionSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly properties?: { readonly [name: string]: OptionSchema };
  readonly required?: string[];
};

/** The type of the values that a schema describes. */
export type ValueOf<Schema> = Schema extends { readonly enum: readonly (infer One)[] }
  ? One
  : Schema extends { readonly anyOf: readonly (infer One)[] }
    ? ValueOf<One>
    : Schema extends { readonly type: "string" }
      ? string
      : Schema extends { readonly type: "integer" | "number" }
        ? number
        : Schema extends { readonly type: "boolean" }
          ? boolean
          : Schema extends { readonly type: "array"; readonly items: infer Item }
            ? ValueOf<Item>[]
            : Schema extends { readonly type: "array" }
              ? string[]
              : Schema extends { readonly type: "object"; readonly properties: infer Members }
                ? MembersOf<Members, Schema>
                : unknown;

/** A member is always there if it is required or has a default. */
type MembersOf<Members, Schema> = {
  -readonly [
    Name in keyof Members as Members[Name] extends { readonly default: unknown }
      ? Name
      : Name extends RequiredIn<Schema>
        ? Name
        : never
  ]: ValueOf<Members[Name]>;
} & {
  -readonly [
    Name in keyof Members as Members[Name] extends { readonly default: unknown }
      ? never
      : Name extends RequiredIn<Schema>
        ? never
        : Name
  ]?: ValueOf<Members[Name]>;
};

type RequiredIn<Schema> = Schema extends { readonly required: readonly (infer Name)[] } ? Name : never;
