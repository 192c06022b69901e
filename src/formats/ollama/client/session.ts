/** Identifies the conversation of a request, and the sections of its prompt. */
import type { SessionSource } from "../../../core/format.ts";
import type { PromptSections } from "../../../core/prompt-sections.ts";
import { sectionsOf } from "../../shared/prompt-sections.ts";
import { firstUserText, sessionInHeaders } from "../../shared/session.ts";

/** The session of the headers, or the user's first message. */
export function sessionOf(source: SessionSource): string | undefined {
  return sessionInHeaders(source) ?? firstUserText(source, "messages");
}

/** The session of the headers; a prompt alone is no conversation. */
export function promptSession(source: SessionSource): string | undefined {
  return sessionInHeaders(source);
}

/** What providers put before the conversation, in the order in which they cache it. */
const PROMPT = { head: ["tools", "format"], turns: "messages" };

export function promptSections(source: SessionSource): PromptSections | undefined {
  return sectionsOf(source, PROMPT);
}
