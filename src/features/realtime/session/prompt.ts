/** How much the model may read for the next answer: what it read for the last one, and what has come since. In tokens. */
import { isObject, type Json } from "../../../core/json.ts";
import { mostTokens } from "../../../core/tokens/most-tokens.ts";
import { textAt } from "../../../kinds/realtime/events.ts";
import type { SessionSettings } from "./settings.ts";

/** An image has fewer tokens than this at each model that takes some. */
const IMAGE_TOKENS = 2_000;
/** What is around an item. */
const ITEM_TOKENS = 16;

export class PromptSize {
  #known = 0;
  #added = 0;
  /** Audio that has come. Tokens. */
  heard = 0;

  constructor(private readonly settings: SessionSettings) {}

  get tokens(): number {
    return Math.ceil(this.#known + this.#added + this.settings.setup);
  }

  /** @param characters of base64 */
  hear(characters: number): void {
    const tokens = characters / this.settings.charactersPerToken;
    this.heard += tokens;
    this.#added += tokens;
  }

  /** An item of the conversation. */
  add(item: Json | undefined): void {
    this.#added += tokensOf(item, this.settings.charactersPerToken);
  }

  /** The provider has counted an answer of the conversation. */
  count(input: number, output: number): void {
    this.#known = input + output;
    this.#added = 0;
  }
}

/** The most tokens of an item, or of a list of items. */
export function tokensOf(item: Json | undefined, charactersPerToken: number): number {
  if (Array.isArray(item))
    return item.reduce<number>((sum, one) => sum + tokensOf(one, charactersPerToken), 0);
  if (!isObject(item)) return 0;
  const { content, ...rest } = item;
  let sum = ITEM_TOKENS + mostTokens(JSON.stringify(rest));
  for (const part of Array.isArray(content) ? content : []) {
    const audio = textAt(part, "audio");
    if (textAt(part, "type") === "input_image") sum += IMAGE_TOKENS;
    else if (audio !== undefined) sum += audio.length / charactersPerToken;
    else sum += mostTokens(JSON.stringify(part));
  }
  return sum;
}
