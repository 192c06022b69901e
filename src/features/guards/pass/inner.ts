/** Texts that are JSON, such as arguments of tools: their strings are the texts that guards read. */
import { parseJson } from "../../../core/json.ts";
import { type BytesNode, readJson, withStrings } from "../../../stream/json-nodes.ts";
import type { TextPlace } from "../../../core/text-places.ts";
import type { Inspected, Outer } from "./texts.ts";

/** Deeper JSON is read as a text like others. */
const DEEPEST = 200;

/** @returns the strings of a text that is JSON; the text itself if it is none */
export function inspectedIn(place: TextPlace): Inspected[] {
  const given = place.read();
  if (!place.isJson || depthOf(given) > DEEPEST) return [{ place, given, text: given }];
  const value = parseJson(given);
  if (typeof value !== "object" || value === null) return [{ place, given, text: given }];
  const bytes = Buffer.from(given);
  const outer: Outer = { place, bytes };
  return [...stringsOf(readJson(bytes), place, place.path)].map((inner) => {
    const text = inner.read();
    return { place: inner, given: text, text, outer };
  });
}

/** The strings of JSON with what its place says of them. */
function* stringsOf(node: BytesNode, around: TextPlace, path: string): Generator<TextPlace> {
  if (node.type === "string") {
    const { isJson: _, ...place } = around;
    const { start, end } = node;
    yield { ...place, path, start, end, read: () => node.scalar() as string };
  } else if (node.type === "array") {
    let index = 0;
    for (const item of node.items()) yield* stringsOf(item, around, `${path}[${index++}]`);
  } else if (node.type === "object")
    for (const [name, value] of node.entries()) yield* stringsOf(value, around, `${path}.${name}`);
}

/** The texts of the request that change. */
export function changesIn(texts: readonly Inspected[]): { start: number; end: number; text: string }[] {
  const changed: { start: number; end: number; text: string }[] = [];
  const inner = new Map<Outer, { start: number; end: number; text: string }[]>();
  for (const { place, given, text, outer } of texts) {
    if (text === given) continue;
    const { start, end } = place;
    if (!outer) changed.push({ start, end, text });
    else inner.set(outer, [...(inner.get(outer) ?? []), { start, end, text }]);
  }
  for (const [{ place, bytes }, edits] of inner)
    changed.push({
      start: place.start,
      end: place.end,
      text: Buffer.from(withStrings(bytes, edits)).toString(),
    });
  return changed.sort((one, other) => one.start - other.start);
}

/** How deep brackets are nested, those within strings included. */
function depthOf(text: string): number {
  let deepest = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === "{" || char === "[") deepest = Math.max(deepest, ++depth);
    else if (char === "}" || char === "]") depth--;
  }
  return deepest;
}
