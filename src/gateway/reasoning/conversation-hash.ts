/**
 * Stands for the ids of tool calls where clients lose them: what the user and the tools said before the call. Clients repeat
 * these texts unchanged, but not always what the model said.
 */
import type { Block, Turn } from "../../core/chat.ts";

export class ConversationHash {
  readonly #hasher = new Bun.CryptoHasher("sha256");

  /** Of the turns so far. */
  get id(): string {
    return this.#hasher.copy().digest("base64");
  }

  add({ role, blocks }: Turn): this {
    this.#hasher.update(JSON.stringify(role === "assistant" ? [] : textsOf(blocks)));
    return this;
  }
}

/** @returns the place behind all turns of a request: that of its answer */
export function placeBehind(turns: readonly Turn[]): string {
  return turns.reduce((place, turn) => place.add(turn), new ConversationHash()).id;
}

function textsOf(blocks: readonly Block[]): string[] {
  return blocks.flatMap((block) => {
    if (block.type === "tool-result") return textsOf(block.blocks);
    return block.type === "text" ? [block.text] : [];
  });
}
