/** Fields that only the provider's own format has. */
import type { ChatRequest } from "../../core/chat.ts";
import type { JsonObject } from "../../core/json.ts";
import { isObject } from "../../core/json.ts";
import type { EncodeContext } from "./encode-context.ts";
import { checkForeignFields } from "./foreign-fields.ts";

/**
 * The fields in `extra` of a format.
 * @param format the provider's
 * @param written members that the encoder writes itself, such as `reasoning`; an object of the same name gets the further members
 * @throws GatewayError for fields of other formats that weir must not drop
 */
export function encodeExtraFields(
  request: ChatRequest,
  format: string,
  written: JsonObject,
  context: Pick<EncodeContext, "model" | "reportLoss">,
): JsonObject {
  checkForeignFields(request, format, context);
  const kept = Object.entries(request.extra[format] ?? {}).filter(([, value]) => value != null);
  return Object.fromEntries(
    kept.map(([name, value]) => {
      const own = written[name];
      return [name, isObject(own) && isObject(value) ? { ...own, ...value } : value];
    }),
  );
}
