/**
 * Protobuf's JSON accepts each member in two spellings, `functionCall` and `function_call`; clients in Python and Go send the
 * second one. The codec reads the first one.
 */
import { invalidRequest } from "../../../core/error.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { withLists } from "./lone-messages.ts";
import { REQUEST } from "./vocabulary.ts";

/** The body with the names and the lists of Google's documentation. @throws GatewayError `invalid-request` for a member in both spellings */
export function camelCased(body: JsonObject): JsonObject {
  const named = REQUEST.respelled(
    body,
    (name) => (name.includes("_") ? toCamel(name) : name),
    refuseTwice,
  ) as JsonObject;
  return withLists(named);
}

function toCamel(name: string): string {
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
