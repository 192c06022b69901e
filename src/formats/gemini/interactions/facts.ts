/** Facts of an interaction that weir reads without decoding it: its cost, options, conversation and prompt. */
import type { SessionSource, SettingMembers } from "../../../core/format.ts";
import type { PromptSections } from "../../../core/prompt-sections.ts";
import type { SizeMembers } from "../../../core/size-members.ts";
import { sectionsOf } from "../../shared/prompt-sections.ts";
import { text } from "../../shared/read.ts";
import { firstUserText, sessionInHeaders, smallMember } from "../../shared/session.ts";

export const size: SizeMembers = {
  maxTokens: ["max_output_tokens"],
  within: ["generation_config"],
  tier: "service_tier",
  tools: ["tools"],
  serverToolTypes: [
    ...["google_search", "google_maps", "code_execution", "url_context", "file_search", "computer_use"],
    ...["retrieval", "mcp_server", "exa_ai_search", "parallel_ai_search"],
  ],
  // What they bring is not in the request.
  serverMembers: ["previous_interaction_id", "environment"],
  opaque: ["arguments", "result", "schema"],
  media: {
    data: { as: "data" },
    uri: { as: "link" },
    cached_content: { as: "link" },
    signature: { as: "sealed" },
    continuation_token: { as: "sealed" },
  },
};

export const settings: SettingMembers = {
  temperature: { at: ["generation_config.temperature"] },
  topP: { at: ["generation_config.top_p"] },
  maxTokens: { at: ["generation_config.max_output_tokens"] },
  reasoningEffort: { at: ["generation_config.thinking_level"] },
};

/** The session of the headers, or the user's first message. */
export function sessionOf(source: SessionSource): string | undefined {
  return sessionInHeaders(source) ?? (firstUserText(source, "input") || text(smallMember(source, "input")));
}

const PROMPT = { head: ["tools", "system_instruction"], turns: "input" };

export function promptSections(source: SessionSource): PromptSections | undefined {
  return sectionsOf(source, PROMPT);
}
