/** Encodes fields without a canonical equivalent. */
import type { ChatRequest } from "../../../core/chat.ts";
import type { JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { checkForeignFields } from "../../shared/foreign-fields.ts";
import { FORMAT } from "../own-fields.ts";
import type { EncodeContext } from "./content.ts";

/**
 * The fields of a client of this format.
 * @param written members with a canonical equivalent for a part of them, such as `reasoning.effort`; they get the other parts
 * @throws GatewayError for fields of other formats that weir must not drop
 */
export function encodeExtra(request: ChatRequest, written: JsonObject, context: EncodeContext): JsonObject {
  checkForeignFields(request, FORMAT, context);
  const kept = Object.entries(request.extra[FORMAT] ?? {}).filter(([, value]) => value != null);
  return Object.fromEntries(
    kept.map(([name, value]) => {
      const own = written[name];
      return [name, isObject(own) && isObject(value) ? { ...own, ...value } : value];
    }),
  );
}
