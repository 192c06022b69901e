/** Texts that are JSON, such as arguments of tools: their strings are the texts that guards read. */
import { parseJson } from "../../../core/json.ts";
import { type BytesNode, mayBeValue, numberAt, readJson, withStrings } from "../../../stream/json-nodes.ts";
import type { TextPlace } from "../../../core/text-places.ts";
import type { Inspected, Outer } from "./texts.ts";

/** Deeper JSON is read as a text like others. */
const DEEPEST = 200;

/** @returns the strings of a text that is JSON, and the text of a file that is one; else the text itself */
export function inspectedIn(place: TextPlace): Inspected[] {
  const given = place.read();
  const file = place.kind === "media" ? fileIn(given) : undefined;
  if (file) {
    const { text, encoded } = file;
    return [{ place: { ...place, kind: "document" }, given: text, text, encoded }];
  }
  if (!place.isJson || depthOf(given) > DEEPEST) return [{ place, given, text: given }];
  const value = parseJson(given);
  if (typeof value !== "object" || value === null) return [{ place, given, text: given }];
  const bytes = Buffer.from(given);
  const outer: Outer = { place, bytes };
  return [...stringsOf(readJson(bytes), place, place.path, bytes)].map((inner) => {
    const text = inner.read();
    return { place: inner, given: text, text, outer };
  });
}

/** A file in base64, with or without `data:text/csv;base64,` in front of it. */
const FILE = /^(data:[^,]{0,200};base64,)?([A-Za-z0-9+/\r\n]{8,}={0,2})\s*$/;
const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
/** What no text file has. */
const CONTROL = /[\0-\x08\x0e-\x1a\x1c-\x1f]/;

/** @returns undefined: it is no file, or no text */
function fileIn(given: string): { text: string; encoded: (text: string) => string } | undefined {
  if (!beginsAsText(given)) return undefined;
  const [, head = "", base64] = FILE.exec(given) ?? [];
  if (base64 === undefined) return undefined;
  try {
    const text = UTF8.decode(Buffer.from(base64, "base64"));
    if (CONTROL.test(text)) return undefined;
    return { text, encoded: (changed) => head + Buffer.from(changed).toString("base64") };
  } catch {
    return undefined;
  }
}

/** Whether the first bytes are a text: those of an image are none, and the rest of it is not decoded. */
function beginsAsText(given: string): boolean {
  const from = given.startsWith("data:") ? given.indexOf(",") + 1 : 0;
  return !CONTROL.test(Buffer.from(given.slice(from, from + 64), "base64").toString("latin1"));
}

/** The strings of JSON, and its long numbers, with what its place says of them. */
function* stringsOf(
  node: BytesNode,
  around: TextPlace,
  path: string,
  bytes: Uint8Array,
): Generator<TextPlace> {
  if (node.type === "string") {
    const { isJson: _, ...place } = around;
    const { start, end } = node;
    yield { ...place, path, start, end, read: () => node.scalar() as string };
  } else if (mayBeValue(node)) {
    const { isJson: _, ...place } = around;
    const { start, end } = node;
    yield { ...place, isNumber: true, path, start, end, read: () => numberAt(bytes, node) };
  } else if (node.type === "array") {
    let index = 0;
    for (const item of node.items()) yield* stringsOf(item, around, `${path}[${index++}]`, bytes);
  } else if (node.type === "object")
    for (const [name, value] of node.entries()) yield* stringsOf(value, around, `${path}.${name}`, bytes);
}

/** The texts of the request that change. */
export function changesIn(texts: readonly Inspected[]): { start: number; end: number; text: string }[] {
  const changed: { start: number; end: number; text: string }[] = [];
  const inner = new Map<Outer, { start: number; end: number; text: string }[]>();
  for (const { place, given, text, outer, encoded } of texts) {
    if (text === given) continue;
    const { start, end } = place;
    if (!outer) changed.push({ start, end, text: encoded?.(text) ?? text });
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
