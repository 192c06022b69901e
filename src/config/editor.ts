/** Generates the JSON schema of the config file for editors, and a commented example file. */
import type { TSchema } from "@sinclair/typebox";
import { stringify } from "yaml";
import { isSection, type Options } from "./options.ts";
import { CORE_OPTIONS } from "./schema.ts";

/** A text that contains a variable reference. weir replaces the reference before it checks the value. */
const REFERENCE = {
  type: "string",
  pattern: "\\$\\{",
  description: "`${NAME}` is replaced with an environment variable; `${NAME:-text}` has a default.",
};

/**
 * The schema for editors and validators: draft 07, without weir's own keywords. Each value that is not a list or a map may
 * also be a `${NAME}` reference. Pure JSON.
 */
export function editorSchema(options: Options = CORE_OPTIONS): Record<string, unknown> {
  const { $id: _, ...schema } = options.file;
  return { ...forEditors(schema as TSchema), $schema: "http://json-schema.org/draft-07/schema#" };
}

function forEditors(schema: TSchema): Record<string, unknown> {
  const own = Object.fromEntries(Object.entries(schema).filter(([keyword]) => !keyword.startsWith("x-")));
  const mapped = (members: Record<string, TSchema>) =>
    Object.fromEntries(Object.entries(members).map(([name, member]) => [name, forEditors(member)]));
  const { properties, patternProperties, items, anyOf } = own;
  if (isConstrainedText(schema)) return orReference(own);
  return {
    ...own,
    ...(properties && { properties: mapped(properties) }),
    ...(patternProperties && { patternProperties: mapped(patternProperties) }),
    ...(items && { items: forEditors(items) }),
    ...(anyOf && { anyOf: (anyOf as TSchema[]).map(forEditors) }),
  };
}

/** Whether a schema rejects a text with a reference: a number, a boolean, an enumeration, a pattern. */
function isConstrainedText(schema: TSchema): boolean {
  const variants: TSchema[] | undefined = schema["anyOf"];
  if (variants) return variants.every((variant) => variant["const"] !== undefined);
  if (schema["type"] === "string") return schema["pattern"] !== undefined;
  return ["integer", "number", "boolean"].includes(schema["type"]);
}

function orReference({ description, default: fallback, examples, ...rest }: Record<string, unknown>) {
  return {
    ...(description !== undefined && { description }),
    ...(fallback !== undefined && { default: fallback }),
    ...(examples !== undefined && { examples }),
    anyOf: [rest, REFERENCE],
  };
}

/** Maximum length of a comment line. */
const WIDTH = 100;

/**
 * A config file that sets nothing: each option is commented out with its default or an example. Prose lines begin with
 * `# `; removing the `#` of any other line enables the option.
 * @param schemaFile path of the schema for editors
 */
export function exampleConfig(schemaFile: string, options: Options = CORE_OPTIONS): string {
  const members: Record<string, TSchema> = options.schema.properties;
  return `# yaml-language-server: $schema=${schemaFile}
# Configuration of weir. Every option is commented out and shows its default or an example: remove the # and change
# the value. \${NAME} is replaced with an environment variable. \`weir config show\` prints the effective values.
${Object.entries(members)
  .map(([name, member]) => `\n${describeOption(name, member)}`)
  .join("")}`;
}

function describeOption(name: string, schema: TSchema, indent = ""): string {
  const prose = wrap(String(schema.description ?? ""));
  if (isSection(schema)) {
    const members: Record<string, TSchema> = schema["properties"];
    const inner = Object.entries(members).map(([member, each]) =>
      describeOption(member, each, `${indent}  `),
    );
    return `${prose}#${indent}${name}:\n${inner.join("")}`;
  }
  const example: unknown = schema["examples"]?.[0] ?? schema["default"];
  // An option without a default and an example is listed by name only.
  if (example === undefined) return `${prose}# (${name})\n`;
  const lines = stringify({ [name]: example }, { lineWidth: 0, defaultStringType: "PLAIN" })
    .trimEnd()
    .split("\n");
  return prose + lines.map((line) => `#${indent}${line}\n`).join("");
}

function wrap(text: string): string {
  let line = "#";
  let wrapped = "";
  for (const word of text.split(" ").filter(Boolean)) {
    if (line.length + word.length >= WIDTH) {
      wrapped += `${line}\n`;
      line = "#";
    }
    line += ` ${word}`;
  }
  return line === "#" ? wrapped : `${wrapped}${line}\n`;
}
