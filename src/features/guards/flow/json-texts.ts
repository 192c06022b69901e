/** The texts of a value of JSON, as guards read and change them: names of members as well. */
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { TextKind } from "../../../core/text-places.ts";
import type { Inspected } from "../pass/texts.ts";

/** Members that hold base64 beside the type of what it is. */
const MEDIA = new Set(["data", "blob"]);

/** @param tool its calls and results are texts of weir's own tools */
export function textsOf(value: Json, kind: TextKind, path: string): Inspected[] {
  const texts: Inspected[] = [];
  const add = (text: string, at: string, of = kind) => {
    const place = { kind: of, path: at, start: 0, end: 0, isTool: true, read: () => text } as const;
    texts.push({ place, given: text, text });
  };
  walk(value, path, false, add);
  return texts;
}

/** The value with the texts as they are now: in the order in which {@link textsOf} found them. */
export function withJsonTexts(value: Json, texts: readonly Inspected[]): Json {
  let next = 0;
  const copy = (one: Json): Json => {
    if (typeof one === "string") return texts[next++]!.text;
    if (Array.isArray(one)) return one.map(copy);
    if (!isObject(one)) return one;
    const copied: JsonObject = {};
    for (const member of Object.values(named(one))) {
      const name = texts[next++]!.text;
      copied[name] = copy(member.value);
    }
    return copied;
  };
  return copy(value);
}

interface Member {
  readonly name: string;
  readonly value: Json;
}

const named = (value: JsonObject): Member[] =>
  Object.entries(value).flatMap(([name, one]) => (one === undefined ? [] : { name, value: one }));

function walk(
  value: Json,
  path: string,
  isMedia: boolean,
  add: (text: string, path: string, kind?: TextKind) => void,
): void {
  if (typeof value === "string") add(value, path, isMedia ? "media" : undefined);
  else if (Array.isArray(value))
    for (const [index, item] of value.entries()) walk(item, `${path}[${index}]`, false, add);
  else if (isObject(value))
    for (const member of named(value)) {
      add(member.name, `${path}{}`);
      const holdsMedia = MEDIA.has(member.name) && typeof value["mimeType"] === "string";
      walk(member.value, `${path}.${member.name}`, holdsMedia, add);
    }
}
