/** Fills the placeholders of addresses and paths: `/model/{model}/converse`. */
import type { SpokenPath } from "./endpoint.ts";

const PLACEHOLDER = /\{([^{}]*)\}/g;

/** The names between braces, in order. */
export function placeholdersOf(template: string): string[] {
  return [...template.matchAll(PLACEHOLDER)].map((match) => match[1]!);
}

/** Replaces each placeholder by its value, percent-encoded. A placeholder without a value stays. */
export function fillTemplate(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(PLACEHOLDER, (whole, name: string) =>
    Object.hasOwn(values, name) ? encodeComponent(values[name]!) : whole,
  );
}

/** As {@link fillTemplate}, for the part behind the host: `@` stays, as vendors write it in names of models (`claude-x@20250929`). */
export function fillPath(path: string, values: Readonly<Record<string, string>>): string {
  return fillTemplate(path, values).replaceAll("%40", "@");
}

/** Percent-encodes all characters but the unreserved ones of RFC 3986. */
export function encodeComponent(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** The path for JSON answers and the one for streams. */
export function pathsOf(spoken: SpokenPath): { json: string; stream: string } {
  if (typeof spoken === "string") return { json: spoken, stream: spoken };
  return { json: spoken.json, stream: spoken.stream ?? spoken.json };
}

/** Whether the text stands for another directory when it is a segment of a path. URL parsers resolve it, also when it is encoded. */
export function isDotSegment(text: string): boolean {
  return text === "." || text === "..";
}
