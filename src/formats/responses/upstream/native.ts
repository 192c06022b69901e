/** Which requests of the format's own clients a host of the format cannot take as they are. */
import type { CodecTarget } from "../../../core/context.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { list } from "../../shared/read.ts";

/** Tools with free-form input and namespaces of tools, for a host that takes neither. */
export function mustTranslate({ traits }: CodecTarget, body: () => JsonObject): boolean {
  return traits.customTools === false && list(body().tools).some(isSpecial);
}

function isSpecial(tool: Json): boolean {
  return isObject(tool) && (tool.type === "custom" || tool.type === "namespace");
}
