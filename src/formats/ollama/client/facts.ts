/** Facts of a request that weir reads without decoding it: its cost, options, conversation and prompt. */
import type { SessionSource, SettingMembers } from "../../../core/format.ts";
import type { PromptSections } from "../../../core/prompt-sections.ts";
import type { SizeMembers } from "../../../core/size-members.ts";
import { sectionsOf } from "../../shared/prompt-sections.ts";
import { firstUserText, sessionInHeaders } from "../../shared/session.ts";

/** Where a request says what decides its cost. */
export const size: SizeMembers = {
  maxTokens: ["num_predict"],
  within: ["options"],
  tools: ["tools"],
  serverToolTypes: [],
  opaque: ["tool_calls", "format"],
  media: { images: { as: "data", binary: true } },
};

/** Where a request has the options that the config can set by model. */
export const settings: SettingMembers = {
  temperature: { at: ["options.temperature"] },
  topP: { at: ["options.top_p"] },
  maxTokens: { at: ["options.num_predict"] },
  reasoningEffort: { at: ["think"] },
};

/** The session of the headers, or the user's first message. */
export function sessionOf(source: SessionSource): string | undefined {
  return sessionInHeaders(source) ?? firstUserText(source, "messages");
}

/** The session of the headers; a prompt alone is no conversation. */
export function promptSession(source: SessionSource): string | undefined {
  return sessionInHeaders(source);
}

/** Sections that providers put before the conversation, in the order in which they cache it. */
const PROMPT = { head: ["tools", "format"], turns: "messages" };

/** The sections of the prompt, by which weir finds the one that broke a cache. */
export function promptSections(source: SessionSource): PromptSections | undefined {
  return sectionsOf(source, PROMPT);
}
