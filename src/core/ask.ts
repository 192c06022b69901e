/** A request that a plugin sends to another model of the gateway, and its answer. */
import type { ChatRequest } from "./chat.ts";
import type { FinishReason, Usage } from "./events.ts";

/** A canonical request (`turns` and its other members), or a short form of one: `prompt` or `messages`. */
export interface AskRequest extends Partial<Omit<ChatRequest, "model">> {
  /** The model as a client of the gateway would name it. */
  model: string;
  /** The instructions. */
  system?: string;
  /** The text of one user message. */
  prompt?: string;
  /** Messages of plain text, in order. */
  messages?: readonly { readonly role: "system" | "user" | "assistant"; readonly content: string }[];
}

/** A complete answer. */
export interface AskAnswer {
  /** The id of the child call, as in the log. */
  id: string;
  /** The provider that answered. */
  provider: string;
  /** The model name that was sent to the provider. */
  model: string;
  /** The text of the answer; empty if it only calls tools. A refusal of the model is text too. */
  text: string;
  /** The reasoning text, if the provider sends it. */
  reasoning: string;
  /** The tool calls in order; `input` is the JSON text of the arguments. */
  toolCalls: { id: string; name: string; input: string }[];
  /** The images in order; `data` is base64. */
  images: { mediaType: string; data: string }[];
  finish: FinishReason;
  /** Token counts; weir's estimate if the provider sent none. */
  usage: Usage;
}
