/** The beginning of prompts, which a provider keeps for later requests. */
import type { JsonObject } from "./json.ts";
import type { KindAnswer, KindRequest } from "./kind.ts";

export interface CacheRequest extends KindRequest {
  /** What is kept, in the words of a Gemini request: `contents`, `systemInstruction`, `tools`, `toolConfig`. */
  prompt: JsonObject;
  /** A name for people. */
  displayName?: string;
  /** How long it is kept. Seconds. */
  seconds: number;
}

export interface CacheAnswer extends KindAnswer {
  /** `cachedContents/…` */
  name: string;
  /** Tokens that are kept. */
  tokens: number;
  /** When it is kept no longer. Milliseconds since 1970. */
  expires: number;
  /** What the provider says of it, as its API writes it. */
  facts: JsonObject;
}

/** The unit in which providers charge what they keep: one token for one hour. */
export const TOKEN_HOUR = "cached_token_hour";

/** Whole token-hours, rounded up. */
export function tokenHours(tokens: number, seconds: number): number {
  return Math.ceil((tokens * Math.max(0, seconds)) / 3_600);
}
