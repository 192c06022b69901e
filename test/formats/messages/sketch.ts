/** What a Messages client is sent, in a form that can be read at a glance. */
import type { ChatEvent } from "../../../src/core/events.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { dataOf, makeCall, stream } from "./make.ts";

export const own = (parts: Parameters<typeof makeCall>[0] = {}) =>
  makeCall({ format: "messages", provider: "deepseek", model: "deepseek-chat", ...parts });

/** One line for each event, for sequences to be read at a glance. */
export async function sketch(events: readonly ChatEvent[]): Promise<string[]> {
  return dataOf(await stream(events, own())).map((data) => {
    const block = data.content_block as JsonObject | undefined;
    const delta = data.delta as JsonObject | undefined;
    const index = data.index === undefined ? "" : ` ${String(data.index)}`;
    const said = delta?.text ?? delta?.thinking ?? delta?.partial_json ?? delta?.stop_reason;
    return `${String(data.type)}${index}${block ? ` ${String(block.type)}` : ""}${said === undefined ? "" : ` ${String(said)}`}`;
  });
}

export const content = (message: JsonObject) => message.content as JsonObject[];
