/**
 * Protobuf's JSON accepts each member in two spellings, `functionCall` and `function_call`; clients in Python and Go send the
 * second one. Google also accepts one object where it documents a list of objects: `tools: {…}`, `parts: {…}`. The codec reads
 * the first spelling and lists.
 */
import { invalidRequest } from "../../../core/error.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { Vocabulary } from "../../shared/vocabulary.ts";
import { GeminiRequest } from "../schema.ts";

/** The names of all members, in the spelling that the codec reads. */
export const REQUEST = new Vocabulary(GeminiRequest);

/** The body with the names and the lists of Google's documentation. @throws GatewayError `invalid-request` for a member in both spellings */
export function camelCased(body: JsonObject): JsonObject {
  const named = REQUEST.respelled(
    body,
    (name) => (name.includes("_") ? toCamel(name) : name),
    refuseTwice,
  ) as JsonObject;
  return withLists(named);
}

export function toCamel(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function toSnake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function refuseTwice(name: string, known: string): never {
  throw invalidRequest(
    `Invalid '${name}': the request has this member also as '${known}'.`,
    name,
    "invalid_value",
  );
}

/** A path as the client spelled it. @param path with the names of Google's documentation: `generationConfig.topP` */
export function spelledIn(body: JsonObject, path: string): string {
  let at: Json | undefined = body;
  let spelled = "";
  let isSnake = false;
  for (const [step, name, index] of path.matchAll(/([^.[\]]+)|\[(\d+)\]/g)) {
    if (index !== undefined) {
      spelled += step;
      at = Array.isArray(at) ? at[Number(index)] : undefined;
      continue;
    }
    const snake = toSnake(name!);
    const has = (spelling: string) => isObject(at) && spelling in at;
    if (snake !== name) isSnake = !has(name!) && (has(snake) || isSnake);
    const own: string = isSnake ? snake : name!;
    spelled += spelled === "" ? own : `.${own}`;
    at = isObject(at) ? at[own] : undefined;
  }
  return spelled;
}

/** Members that are lists of objects, with those inside them. */
interface Lists {
  [name: string]: Lists;
}

const PARTS: Lists = { parts: {} };
const LISTS: Lists = { contents: PARTS, tools: { functionDeclarations: {} } };

/** The body with a list in place of each lone object; the same body if there is none. */
function withLists(body: JsonObject): JsonObject {
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
