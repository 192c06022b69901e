/** Fields of a client of this format. */
import type { ChatRequest } from "../../../core/chat.ts";
import type { JsonObject } from "../../../core/json.ts";
import { encodeExtraFields } from "../../shared/extra-fields.ts";
import { FORMAT } from "../own-fields.ts";
import type { EncodeContext } from "./content.ts";

/** @param written members that the encoder writes itself */
export function encodeExtra(request: ChatRequest, written: JsonObject, context: EncodeContext): JsonObject {
  return encodeExtraFields(request, FORMAT, written, context);
}
