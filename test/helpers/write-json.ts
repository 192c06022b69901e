/** JSON in the layout of the formatter: a value that fits on one line is written on one line. */
import type { Json, JsonObject } from "../../src/core/json.ts";
import { isObject } from "../../src/core/json.ts";

const WIDTH = 110;

/** @param indent of the line @param column where the value begins @param isLast no comma follows */
export function writeJson(value: Json, indent = "", column = indent.length, isLast = true): string {
  const line = onOneLine(value);
  const isShort = column + line.length + (isLast ? 0 : 1) <= WIDTH && !holdsRecords(value);
  if (isShort || !(isObject(value) || Array.isArray(value))) return line;
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    const items = value.map(
      (item, index) => inner + writeJson(item, inner, inner.length, index === value.length - 1),
    );
    return `[\n${items.join(",\n")}\n${indent}]`;
  }
  const all = membersOf(value);
  const members = all.map(([name, member], index) => {
    const start = `${inner}${JSON.stringify(name)}: `;
    return start + writeJson(member, inner, start.length, index === all.length - 1);
  });
  return `{\n${members.join(",\n")}\n${indent}}`;
}

function onOneLine(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(", ")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = membersOf(value).map(([name, member]) => `${JSON.stringify(name)}: ${onOneLine(member)}`);
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

/** The formatter never writes a list of several objects with several members each on one line. */
function holdsRecords(value: Json): boolean {
  const items = Array.isArray(value)
    ? value
    : isObject(value)
      ? membersOf(value).map(([, item]) => item)
      : [];
  const isRecord = (item: Json) => isObject(item) && membersOf(item).length > 1;
  if (Array.isArray(value) && value.length > 1 && value.every(isRecord)) return true;
  return items.some(holdsRecords);
}

function membersOf(value: JsonObject): [string, Json][] {
  return Object.entries(value).filter((member): member is [string, Json] => member[1] !== undefined);
}
