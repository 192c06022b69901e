/** Content of a message: parts, or one string. */
import type { Json, JsonObject } from "../../../core/json.ts";

import type { PartContext } from "../../shared/openai-parts.ts";

export { encodePart, isBlank, textPart } from "../../shared/openai-parts.ts";

/** Context of encoding a request. */
export interface EncodeContext extends PartContext {
  /** A model of Google's, whose hosts take back thought signatures. */
  isGemini: boolean;
}

/** Returns a string if all parts are text without marks, else a list; `undefined` if there are none. */
export function contentOf(parts: readonly JsonObject[], separator = "\n\n"): Json | undefined {
  if (parts.length === 0) return undefined;
  const plain = parts.every((part) => part.type === "text" && part.prompt_cache_breakpoint === undefined);
  return plain ? parts.map((part) => part.text).join(separator) : [...parts];
}
