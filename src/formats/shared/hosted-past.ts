/** Parts of the blocks that say of a conversation which tools of servers ran. */
import type { HostedDeclaration } from "../../core/events.ts";
import { isObject, type Json } from "../../core/json.ts";
import { list, text } from "./read.ts";

/** The arguments as JSON text. */
export function inputText(value: Json | undefined): string {
  if (typeof value === "string") return value === "" ? "{}" : value;
  return JSON.stringify(value ?? {});
}

/** The tools of a list, as an answer had them. */
export function readDeclarations(tools: Json | undefined): HostedDeclaration[] {
  return list(tools).flatMap((tool): HostedDeclaration[] => {
    const name = isObject(tool) ? text(tool.name) : undefined;
    if (name === undefined || !isObject(tool)) return [];
    const { description, input_schema: schema } = tool;
    const parameters = isObject(schema) ? schema : { type: "object" };
    return [{ name, parameters, ...(typeof description === "string" && { description }) }];
  });
}

/** The texts of content, joined. */
export function contentText(content: Json | undefined): string {
  if (typeof content === "string") return content;
  return list(content)
    .flatMap((part) => (isObject(part) && typeof part.text === "string" ? [part.text] : []))
    .join("\n");
}
