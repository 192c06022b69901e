/** How large a request is. */
import type { Units } from "./events.ts";
import type { TextTokens } from "./tokens/most-tokens.ts";

/** A request before it is sent, for the estimate of its cost. */
export interface RequestSize {
  /** The most tokens of its text. */
  text: TextTokens;
  /** Tokens of what is around the text: names of members, brackets. */
  structure: number;
  /** Estimated tokens of images, documents and audio. */
  mediaTokens: number;
  hasTools: boolean;
  /** Tools that the provider runs itself, such as a web search. */
  hasServerTools: boolean;
  /** The client's limit for output tokens. */
  maxTokens?: number;
  /** Number of answers that the client wants. */
  choices: number;
  /**
   * What the output is, where nothing of it is seen before it is complete: all of it is held, and a stream that breaks off is
   * charged for all.
   */
  opaque?: "imageOut" | "audioOut";
  /** The most that the request uses of other units than tokens. */
  units?: Units;
  /** The host charges by `units` or by tokens, as its price says: the tokens that such a request likely has, if it counts none. */
  instead?: { input: number; output: number; audioIn?: number; audioOut?: number };
  /** The service tier and the speed that the client asks for. */
  tier?: string;
  speed?: string;
}
