/** Conversations in the canonical vocabulary, and the messages they become. */
import type { Block, ToolCallBlock, ToolResultBlock, Turn } from "../../../src/core/chat.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { encode } from "./make.ts";

export const text = (value: string): Block => ({ type: "text", text: value });

export const user = (...blocks: Block[]): Turn => ({ role: "user", blocks });

export const assistant = (...blocks: Block[]): Turn => ({ role: "assistant", blocks });

export const system = (...blocks: Block[]): Turn => ({ role: "system", blocks });

export const called = (id: string, name = "f", input = "{}"): ToolCallBlock => ({
  type: "tool-call",
  id,
  name,
  input,
  kind: "function",
});

export const result = (id: string, ...blocks: Block[]): ToolResultBlock => ({
  type: "tool-result",
  id,
  blocks,
});

export const wireText = (value: string) => ({ type: "text", text: value });

export function messagesOf(turns: Turn[], options?: Parameters<typeof encode>[1]) {
  const { body, losses } = encode({ turns }, options);
  return {
    messages: body.messages as JsonObject[],
    system: body.system as JsonObject[] | undefined,
    losses,
    body,
  };
}
