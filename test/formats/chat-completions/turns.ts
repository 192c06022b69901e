/** Turns and blocks in few words. */
import type { Block, ToolCallBlock, ToolResultBlock, Turn } from "../../../src/core/chat.ts";
import type { Traits } from "../../../src/core/provider.ts";
import { encode } from "./make.ts";

export const say = (text: string): Block => ({ type: "text", text });
export const user = (...blocks: (Block | string)[]): Turn => ({
  role: "user",
  blocks: blocks.map((block) => (typeof block === "string" ? say(block) : block)),
});

export const assistant = (...blocks: (Block | string)[]): Turn => ({ ...user(...blocks), role: "assistant" });
export const system = (...blocks: (Block | string)[]): Turn => ({ ...user(...blocks), role: "system" });
export const call = (id: string, name = "f", input = "{}"): ToolCallBlock => ({
  type: "tool-call",
  id,
  name,
  input,
  kind: "function",
});

export const result = (id: string, ...blocks: (Block | string)[]): ToolResultBlock => ({
  type: "tool-result",
  id,
  blocks: user(...blocks).blocks,
});

export const image: Block = {
  type: "image",
  source: { type: "base64", mediaType: "image/png", data: "AAAA" },
};
export const turnsTo = (turns: Turn[], traits: Traits = {}) => encode({ turns }, { traits });
