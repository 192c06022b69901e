/** What a decision request may use at most. */
import type { DecisionRequest } from "../../core/decision.ts";
import { isObject, type Json } from "../../core/json.ts";
import type { RequestSize } from "../../core/request-size.ts";
import { IMAGE_TOKENS } from "../../core/tokens/image-tokens.ts";
import { MostTokens } from "../../core/tokens/most-tokens.ts";

/** The model may reason: its output has no limit but its own. */
export function sizeOf({ input, questions }: DecisionRequest): RequestSize {
  const content = { text: new MostTokens(), structure: 0, mediaTokens: 0 };
  read(input, content);
  for (const question of questions) read(question as unknown as Json, content);
  return { ...content, hasTools: false, hasServerTools: false, choices: 1 };
}

interface Content {
  text: MostTokens;
  structure: number;
  mediaTokens: number;
}

function read(value: Json | undefined, content: Content): void {
  if (typeof value === "string") {
    content.text.next();
    content.text.add(value);
  } else if (Array.isArray(value)) for (const item of value) read(item, content);
  else if (isObject(value)) {
    content.structure += 4;
    for (const [name, member] of Object.entries(value))
      if (name === "image_url") content.mediaTokens += IMAGE_TOKENS;
      else read(member, content);
  }
}
