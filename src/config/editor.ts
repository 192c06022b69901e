/** The schema of a config file for editors, and a commented example of one; both are made from the options. */
import type { TSchema } from "@sinclair/typebox";
import { stringify } from "yaml";
import { configSchema, fileSchema, isSection } from "./schema.ts";

/** A text with a variable in it, which weir replaces before it checks the value. */
const REFERENCE = {
  type: "string",
  pattern: "\\$\\{",
  description: "`${NAME}` stands for an environment variable; `${NAME:-text}` has a fallback.",
};

/**
 * The schema as editors and validators take it: draft 07, without weir's own keywords, and with `${NAME}` wherever weir
 * replaces it, which is in each value that is not a list or a map. Pure JSON.
 */
export function editorSchema(): Record<string, unknown> {
  const { $id: _, ...schema } = fileSchema();
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

/** A single value that a text with a variable would not fit as it is written: a number, a word of a list, a pattern. */
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

/** Width of the comments. */
const WIDTH = 100;

/**
 * A config file that sets nothing: each option is commented out with its default, or with an example. A line of prose begins
 * with `# `; of the others, taking the `#` away puts the option in force.
 * @param schemaFile where editors find the schema
 */
export function exampleConfig(schemaFile: string): string {
  const members: Record<string, TSchema> = configSchema.properties;
  return `# yaml-language-server: $schema=${schemaFile}
# Configuration of weir. Every option is commented out and shows its default or an example: take the # away, and
# change the value. \${NAME} stands for an environment variable. \`weir config show\` prints what is in force.
${Object.entries(members)
  .map(([name, member]) => `\n${describeOption(name, member)}`)
  .join("")}`;
}

function describeOption(name: string, schema: TSchema, indent = ""): string {
  const prose = wrap(String(schema.description ?? ""));
  if (isSection(schema)) {
    const members: Record<string, TSchema> = schema["properties"];
    const inner = Object.entries(members).map(([member, each]) => describeOption(member, each, "  "));
    return `${prose}#${name}:\n${inner.join("")}`;
  }
  const example: unknown = schema["examples"]?.[0] ?? schema["default"];
  // An option without either is known by its name only.
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
