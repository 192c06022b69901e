/** Encodes fields without a canonical equivalent, which a client of this format sent. */
import type { ChatRequest } from "../../../core/chat.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { FORMAT } from "../own-fields.ts";
import type { EncodeContext } from "./content.ts";

/** Members of `generationConfig` that models without penalties refuse. */
const PENALTIES = ["presencePenalty", "frequencyPenalty"] as const;

export interface EncodedExtra {
  /** Top-level members that the request does not decide. */
  members: JsonObject;
  toolConfig: JsonObject;
  safetySettings?: Json;
  /** Members of `generationConfig`. */
  config: JsonObject;
}

export function encodeExtra({ extra }: ChatRequest, { facts, reportLoss }: EncodeContext): EncodedExtra {
  const { generationConfig, toolConfig, safetySettings, ...members } = extra[FORMAT] ?? {};
  const config = isObject(generationConfig) ? { ...generationConfig } : {};
  for (const name of PENALTIES) {
    if (config[name] == null || facts.penalties) continue;
    if (config[name] !== 0)
      reportLoss("dropped", `generationConfig.${name}`, "the model does not take this field");
    delete config[name];
  }
  return { members, toolConfig: isObject(toolConfig) ? toolConfig : {}, safetySettings, config };
}
