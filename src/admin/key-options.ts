/** Gives the operations on keys the options that keys have in this build: members of scopes, their words, and the fields of a form. */
import { type TObject, type TSchema, Type } from "@sinclair/typebox";
import type { KeyOption } from "../ledger/keys/option.ts";
import { unknownIn } from "../ledger/keys/scopes.ts";
import { formatNano } from "../ledger/money.ts";
import type { Scopes } from "../ledger/policy.ts";
import type { KeyField } from "../operator/keys.ts";
import type { AdminOperation } from "./operation.ts";

/** Gives the options to the operations, and adds them to the schema of each `scopes` in their bodies and answers. */
export function withKeyOptions(
  operations: readonly AdminOperation[],
  options: readonly KeyOption[],
): readonly AdminOperation[] {
  const members = Object.fromEntries(options.map(({ name, schema }) => [name, Type.Optional(schema)]));
  return operations.map((operation) => {
    const { answer, body } = operation;
    return {
      ...operation,
      ...(body && { body: extended(body, members) as TObject }),
      ...("schema" in answer && { answer: { ...answer, schema: extended(answer.schema, members) } }),
      handle: (request) => operation.handle({ ...request, keyOptions: options }),
    };
  });
}

/** The schema with more members in each `scopes`. */
function extended<Schema extends TSchema>(schema: Schema, members: Record<string, TSchema>): Schema {
  const { properties, items } = schema as { properties?: Record<string, TSchema>; items?: TSchema };
  if (items) return { ...schema, items: extended(items, members) };
  if (!properties) return schema;
  const next = Object.entries(properties).map(([name, member]) => [
    name,
    name === "scopes"
      ? { ...member, properties: { ...(member as TObject).properties, ...members } }
      : extended(member, members),
  ]);
  return { ...schema, properties: Object.fromEntries(next) };
}

/** The restrictions of a key besides its models, as clauses: `only of openai`, `at most $0.50 a call`. */
export function restrictionsOf(scopes: Scopes, options: readonly KeyOption[]): string[] {
  const { providers, endpoints, addresses, maxTokens, maxCost } = scopes;
  const unknown = unknownIn(scopes, options);
  return [
    ...(providers ? [`only of ${providers.join(", ")}`] : []),
    ...(endpoints ? [`only by ${endpoints.join(", ")}`] : []),
    ...(addresses ? [`not from outside ${addresses.join(", ")}`] : []),
    ...(maxTokens === undefined ? [] : [`at most ${maxTokens.toLocaleString("en-US")} output tokens a call`]),
    ...(maxCost === undefined ? [] : [`at most ${formatNano(maxCost)} a call`]),
    ...options.flatMap((option) => option.words(scopes) ?? []),
    ...(unknown === undefined ? [] : ["no calls"]),
  ];
}

/** The options as fields of a form. */
export function fieldsOf(options: readonly KeyOption[]): KeyField[] {
  return options.map(({ name, label, schema }) => ({ name, label, type: String(schema["type"]) }));
}
