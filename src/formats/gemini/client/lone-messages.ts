/** Google also accepts one object where it documents a list of objects: `tools: {…}`, `parts: {…}`. */
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";

/** Members that are lists of objects, with those inside them. */
interface Lists {
  [name: string]: Lists;
}

const PARTS: Lists = { parts: {} };
const LISTS: Lists = { contents: PARTS, tools: { functionDeclarations: {} } };

/** The body with a list in place of each lone object; the same body if there is none. */
export function withLists(body: JsonObject): JsonObject {
  const listed = listedIn(body, LISTS);
  const system = listed.systemInstruction;
  return isObject(system) ? withMember(listed, "systemInstruction", listedIn(system, PARTS)) : listed;
}

function listedIn(value: JsonObject, lists: Lists): JsonObject {
  let listed = value;
  for (const name in lists) {
    const member = value[name];
    if (typeof member !== "object" || member === null) continue;
    const items = Array.isArray(member) ? member : [member];
    const inner = items.map((item) => (isObject(item) ? listedIn(item, lists[name]!) : item));
    const isSame = items === member && inner.every((item, index) => item === items[index]);
    if (!isSame) listed = withMember(listed, name, inner);
  }
  return listed;
}

function withMember(value: JsonObject, name: string, member: Json): JsonObject {
  return value[name] === member ? value : { ...value, [name]: member };
}
