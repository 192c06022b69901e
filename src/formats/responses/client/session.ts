/** Identifies the conversation of a request, and the sections of its prompt. */
import type { SessionSource } from "../../../core/format.ts";
import type { PromptSections } from "../../../core/prompt-sections.ts";
import { sectionsOf } from "../../shared/prompt-sections.ts";
import { firstUserText, sessionInHeaders, smallMember } from "../../shared/session.ts";
import { text } from "../../shared/read.ts";

/** The session of the headers, the key of the prompt cache, or the user's first message. */
export function sessionOf(source: SessionSource): string | undefined {
  return (
    sessionInHeaders(source) ||
    text(smallMember(source, "prompt_cache_key")) ||
    firstUserText(source, "input") ||
    text(smallMember(source, "input"))
  );
}

/** What providers put before the conversation, in the order in which they cache it. */
const PROMPT = { head: ["tools", "instructions"], turns: "input" };

export function promptSections(source: SessionSource): PromptSections | undefined {
  return sectionsOf(source, PROMPT);
}
