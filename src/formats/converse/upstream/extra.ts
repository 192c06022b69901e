/** Fields that only this format has. A plugin sets them in `extra`: a guardrail, request metadata, fields of a model. */
import type { ChatRequest } from "../../../core/chat.ts";
import type { JsonObject } from "../../../core/json.ts";
import { encodeExtraFields } from "../../shared/extra-fields.ts";
import { FORMAT } from "../own-fields.ts";
import type { EncodeContext } from "./context.ts";

/** @param written members that the encoder writes itself */
export function encodeExtra(request: ChatRequest, written: JsonObject, context: EncodeContext): JsonObject {
  return encodeExtraFields(request, FORMAT, written, context);
}
