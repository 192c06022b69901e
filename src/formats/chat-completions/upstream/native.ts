/** Which requests of the format's own clients cannot go to a host in the client's own form. */
import type { CodecTarget } from "../../../core/context.ts";
import { isObject, type JsonObject } from "../../../core/json.ts";
import { list } from "../../shared/read.ts";
import { modelFacts } from "../models.ts";
import { MISTRAL_IDS } from "./messages.ts";
import { planStop } from "./stop-sequences.ts";

/**
 * Stop sequences that weir has to watch for, ids of calls that it has to exchange, reasoning that it has to add again, and a
 * choice among several tools: they concern more than single members of the request.
 */
export function mustTranslate({ fitsNative, traits, model }: CodecTarget, body: () => JsonObject): boolean {
  if (!fitsNative) return false;
  const { stop, tools, messages, tool_choice: choice } = body();
  const stops = typeof stop === "string" ? [stop] : list(stop).filter((one) => typeof one === "string");
  const { watched } = planStop(stops, { traits, facts: modelFacts(model) });
  if (traits.maxStop !== undefined && watched.length > 0) return true;
  const takesChoices = traits.forcedToolChoice !== false && traits.namedToolChoice !== false;
  if (!takesChoices && isObject(choice) && choice.type === "allowed_tools") return true;
  // Reasoning of the answer to this request can be added to the next one only if weir has read it.
  const ids = callIdsIn(list(messages));
  if (traits.reasoningReplay === "required" && list(tools).length + ids.length > 0) return true;
  return traits.toolIds === "mistral" && ids.some((id) => !MISTRAL_IDS.legal.test(id));
}

function callIdsIn(messages: readonly unknown[]): string[] {
  return messages
    .flatMap((message) => (isObject(message) ? list(message.tool_calls) : []))
    .flatMap((call) => (isObject(call) && typeof call.id === "string" ? call.id : []));
}
