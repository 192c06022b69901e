/** The token count of an answer of Amazon Bedrock, for models whose body has none. */
import type { HeaderReader } from "../core/headers.ts";

/** `undefined` if the header is absent or no number. */
export function tokensInHeader(headers: HeaderReader): number | undefined {
  const text = headers.get("x-amzn-bedrock-input-token-count");
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined;
}
