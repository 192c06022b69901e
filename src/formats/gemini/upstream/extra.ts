/** Encodes fields without a canonical equivalent, which a client of this format sent. */
import type { ChatRequest } from "../../../core/chat.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { checkForeignFields } from "../../shared/foreign-fields.ts";
import { FORMAT } from "../own-fields.ts";
import type { EncodeContext } from "./content.ts";
import { sharedFields } from "../../shared/own-fields.ts";

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

/** Reports the losses of fields of other formats. @throws GatewayError for one that weir must not drop */
export function encodeExtra(request: ChatRequest, context: EncodeContext): EncodedExtra {
  const { facts, reportLoss } = context;
  checkForeignFields(request, FORMAT, context, facts.penalties ? ["seed", ...PENALTIES] : ["seed"]);
  const { seed, ...penalties } = sharedFields(request, FORMAT);
  const { generationConfig, toolConfig, safetySettings, ...members } = request.extra[FORMAT] ?? {};
  const config: JsonObject = {
    ...(typeof seed === "number" && { seed }),
    ...(facts.penalties && penalties),
    ...(isObject(generationConfig) && generationConfig),
  };
  for (const name of PENALTIES) {
    if (config[name] == null || facts.penalties) continue;
    if (config[name] !== 0)
      reportLoss("dropped", `generationConfig.${name}`, "the model does not take this field");
    delete config[name];
  }
  return { members, toolConfig: isObject(toolConfig) ? toolConfig : {}, safetySettings, config };
}
