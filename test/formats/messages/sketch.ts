/** What a Messages client is sent, in a form that can be read at a glance. */
import type { ChatEvent } from "../../../src/core/events.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { dataOf, requestContext, stream, client } from "./make.ts";

export const own = (parts: Parameters<typeof requestContext>[0] = {}) =>
  requestContext({ format: "messages", provider: "deepseek", model: "deepseek-chat", ...parts });

/** One line for each event, for sequences to be read at a glance. */
export function sketch(events: readonly ChatEvent[]): string[] {
  return dataOf(stream(events, own())).map((data) => {
    const block = data.content_block as JsonObject | undefined;
    const delta = data.delta as JsonObject | undefined;
    const index = data.index === undefined ? "" : ` ${String(data.index)}`;
    const said = delta?.text ?? delta?.thinking ?? delta?.partial_json ?? delta?.stop_reason;
    return `${String(data.type)}${index}${block ? ` ${String(block.type)}` : ""}${said === undefined ? "" : ` ${String(said)}`}`;
  });
}

export const content = (message: JsonObject) => message.content as JsonObject[];
