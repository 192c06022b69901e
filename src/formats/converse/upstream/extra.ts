/** Fields that only this format has. A plugin sets them in `extra`: a guardrail, request metadata, fields of a model. */
import type { ChatRequest } from "../../../core/chat.ts";
import type { JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { checkForeignFields } from "../../shared/foreign-fields.ts";
import { FORMAT } from "../own-fields.ts";
import type { EncodeContext } from "./context.ts";

/**
 * @param written members that weir encodes itself; an object of the same name gets the further members
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
