/** Values of Bifrost's config: `env.NAME`, or a group that names the variable. */
import type { References } from "../environment.ts";
import type { Reading } from "../reader.ts";
import type { SourceNode } from "../source.ts";

export const references: References = (text) => {
  const name = /^env\.([A-Za-z_][A-Za-z0-9_]*)$/.exec(text)?.[1];
  return name === undefined ? undefined : `\${${name}}`;
};

/**
 * The node with the text of a value. https://www.getbifrost.ai/schema also allows `{value, env_var, from_env}`, where the
 * variable counts if `from_env` is true.
 */
export function valueNode(node: SourceNode | undefined): SourceNode | undefined {
  if (node === undefined || node.isLeaf) return node?.value === "" ? undefined : node;
  const isVariable = node.member("from_env")?.value === true || node.member("value")?.text === "";
  node.member("from_env")?.taken("providers");
  const chosen = isVariable ? node.member("env_var") : node.member("value");
  if (isVariable) node.member("value")?.changed("the variable counts");
  else node.member("env_var")?.dropped("the value counts");
  return chosen;
}

/** A value in the notation of `weir.yaml`. @param to where it is there */
export function textOf(
  { environment }: Reading,
  wanted: SourceNode | undefined,
  to: string,
  kind: "text" | "url" = "text",
): string | undefined {
  const node = valueNode(wanted);
  if (node?.text === undefined) return undefined;
  node.taken(to);
  return environment.text(variableText(node), kind);
}

/** A secret in the notation of `weir.yaml`. @param name of the variable for a literal */
export function secretOf(
  { environment }: Reading,
  wanted: SourceNode | undefined,
  to: string,
  name: string,
): string | undefined {
  const node = valueNode(wanted);
  if (node?.text === undefined) return undefined;
  node.taken(to);
  return node.name === "env_var"
    ? environment.text(variableText(node), "secret")
    : environment.secret(node, name);
}

/** The text of a value, also where it names a variable without the usual prefix. */
export function variableText(node: SourceNode): string {
  const text = node.text ?? "";
  return node.name === "env_var" && !text.startsWith("env.") ? `env.${text}` : text;
}
