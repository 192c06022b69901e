/** One turn of the model: what it says, and which tools it calls. */
import type { Block, ReasoningBlock, ToolCallBlock, Turn } from "../../../core/chat.ts";
import type { BlockStart, ChatEvent, FinishReason, Usage } from "../../../core/events.ts";
import { NO_USAGE } from "../../../core/events.ts";

type Ended = Extract<ChatEvent, { type: "block-end" }>;

export class ModelTurn {
  /** What the model said, as the next turn gets it. */
  readonly said: Turn = { role: "assistant", blocks: [] };
  /** The calls that weir runs. */
  readonly own: ToolCallBlock[] = [];
  /** The ids of its calls of the client's tools. */
  readonly others: string[] = [];
  finish: FinishReason | undefined;
  usage: Usage = NO_USAGE;
  readonly #isOwn: (name: string) => boolean;
  /** Indexes of those. */
  readonly #clients = new Set<number>();
  /** Open blocks by their index in the answer of the model. */
  readonly #open = new Map<number, { block: Block; isOwn: boolean }>();

  /** The model calls a tool of the client. */
  get callsClient(): boolean {
    return this.others.length > 0;
  }

  /** @param isOwn whether weir runs the tool */
  constructor(isOwn: (name: string) => boolean) {
    this.#isOwn = isOwn;
  }

  /** Whether a block is a call of the client's tools. */
  isClients(index: number): boolean {
    return this.#clients.has(index);
  }

  /** @returns whether the event is for the client: calls that weir runs are not */
  take(event: ChatEvent): boolean {
    switch (event.type) {
      case "message-start":
      case "usage":
        return false;
      case "block-start":
        return this.#begin(event.index, event.block);
      case "block-delta":
        return this.#grow(event.index, event.delta);
      case "block-end":
        return this.#end(event);
      case "message-end":
        this.finish = event.reason;
        this.usage = event.usage;
        return false;
      default:
        return true;
    }
  }

  #begin(index: number, start: BlockStart): boolean {
    const block = blockOf(start);
    const isOwn = block?.type === "tool-call" && block.kind === "function" && this.#isOwn(block.name);
    if (!block) return true;
    this.said.blocks.push(block);
    this.#open.set(index, { block, isOwn });
    if (isOwn) this.own.push(block);
    else if (block.type === "tool-call") {
      this.others.push(block.id);
      this.#clients.add(index);
    }
    return !isOwn;
  }

  #grow(index: number, delta: string): boolean {
    const { block, isOwn } = this.#open.get(index) ?? {};
    if (block?.type === "tool-call") block.input += delta;
    else if (block && "text" in block && typeof block.text === "string") block.text += delta;
    return isOwn !== true;
  }

  #end({ index, signature }: Ended): boolean {
    const { block, isOwn } = this.#open.get(index) ?? {};
    this.#open.delete(index);
    if (block?.type === "reasoning" && signature !== undefined) block.signature = signature;
    return isOwn !== true;
  }
}

/** The block of a conversation that begins; undefined for what a model does not get back. */
function blockOf(start: BlockStart): Block | undefined {
  switch (start.type) {
    case "text":
      return { type: "text", text: "", ...(start.phase !== undefined && { phase: start.phase }) };
    case "reasoning": {
      const { redacted, origin } = start;
      const block: ReasoningBlock = { type: "reasoning", text: "" };
      return {
        ...block,
        ...(redacted !== undefined && { redacted }),
        ...(origin !== undefined && { origin }),
      };
    }
    case "tool-call":
      return { type: "tool-call", id: start.id, name: start.name, input: "", kind: start.kind };
    case "refusal":
      return { type: "refusal", text: "" };
    case "image": {
      const { mediaType, data } = start;
      return { type: "image", source: { type: "base64", mediaType, data } };
    }
    case "foreign":
      return { type: "foreign", format: start.format, value: start.value };
    case "hosted-tool":
      return undefined;
  }
}
