/** Words of the page of tools. */
import type { PinMode } from "../pins/declarations.ts";

export const MARKS = { up: "ok", down: "bad", unknown: "off" } as const;

export const TOOL_MARKS = { approved: "ok", new: "warn", changed: "warn", gone: "bad", seen: "off" } as const;

export function pinWords(pin: PinMode | undefined): string {
  return pin === "off" ? "not pinned" : pin === "warn" ? "changes are logged" : "as approved";
}

/** Names of the arguments that a definition says. */
export function argumentsOf(definition: Readonly<Record<string, unknown>>): string[] {
  const { properties } = (definition["inputSchema"] ?? {}) as { properties?: unknown };
  return typeof properties === "object" && properties !== null ? Object.keys(properties) : [];
}

/** A member of a definition as text; "" for anything else. */
export function textIn(definition: Readonly<Record<string, unknown>>, name: string): string {
  const { [name]: value } = definition;
  return typeof value === "string" ? value : "";
}
