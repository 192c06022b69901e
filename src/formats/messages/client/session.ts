/** Identifies the conversation of a request, and the sections of its prompt. */
import type { SessionSource } from "../../../core/format.ts";
import { isObject } from "../../../core/json.ts";
import type { PromptSections } from "../../../core/prompt-sections.ts";
import { sectionsOf } from "../../shared/prompt-sections.ts";
import { firstUserText, sessionInHeaders, smallMember } from "../../shared/session.ts";
import { text } from "../../shared/read.ts";

/** The session of the headers, the user in the metadata, or the user's first message. */
export function sessionOf(source: SessionSource): string | undefined {
  const session = sessionInHeaders(source);
  if (session) return session;
  const metadata = smallMember(source, "metadata");
  return (isObject(metadata) ? text(metadata.user_id) : undefined) ?? firstUserText(source, "messages");
}

/** What providers put before the conversation, in the order in which they cache it. */
const PROMPT = { head: ["tools", "system", "tool_choice", "thinking"], turns: "messages" };

export function promptSections(source: SessionSource): PromptSections | undefined {
  return sectionsOf(source, PROMPT);
}
