/**
 * The member `think`, and the reasoning of earlier turns. The format has no place for a signature: the gateway keeps signed
 * reasoning for its clients (`facts.losesCallIds`).
 */
import type { ReasoningBlock, ReasoningOptions } from "../../core/chat.ts";
import type { Json } from "../../core/json.ts";

/** `true` leaves it to the model how much it reasons. */
export function decodeThink(think: Json | undefined): ReasoningOptions | undefined {
  if (think === false) return { mode: "off" };
  if (think === true) return { mode: "adaptive" };
  return typeof think === "string" && think !== "" ? { effort: think.toLowerCase() } : undefined;
}

export function decodeThinking(thinking: Json | undefined, path: string): ReasoningBlock[] {
  return typeof thinking === "string" && thinking !== "" ? [{ type: "reasoning", text: thinking, path }] : [];
}
