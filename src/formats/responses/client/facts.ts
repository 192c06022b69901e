/** Facts of a request that weir reads without decoding it: its cost, options, conversation and prompt. */
import type { SessionSource, SettingMembers } from "../../../core/format.ts";
import type { PromptSections } from "../../../core/prompt-sections.ts";
import type { SizeMembers } from "../../../core/size-members.ts";
import { IMAGE_TOKENS } from "../../../core/tokens/image-tokens.ts";
import { sectionsOf } from "../../shared/prompt-sections.ts";
import { text } from "../../shared/read.ts";
import { firstUserText, sessionInHeaders, smallMember } from "../../shared/session.ts";

/** Where a request says what decides its cost. */
export const size: SizeMembers = {
  maxTokens: ["max_output_tokens"],
  tier: "service_tier",
  tools: ["tools"],
  serverToolTypes: [
    "web_search",
    "file_search",
    "code_interpreter",
    "mcp",
    "image_generation",
    "computer_use",
  ],
  // A stored prompt may hold tools.
  serverMembers: ["prompt"],
  opaque: ["arguments", "action", "text"],
  media: {
    image_url: { as: "url", most: IMAGE_TOKENS },
    data: { as: "data", in: ["input_audio"], binary: true },
    file_data: { as: "data" },
    file_url: { as: "url" },
    id: { as: "link", in: ["prompt"] },
    file_id: { as: "link" },
    encrypted_content: { as: "sealed" },
  },
};

/** Where a request has the options that the config can set by model. */
export const settings: SettingMembers = {
  temperature: { at: ["temperature"] },
  topP: { at: ["top_p"] },
  maxTokens: { at: ["max_output_tokens"] },
  reasoningEffort: { at: ["reasoning.effort"] },
};

/** The session of the headers, or the key of the prompt cache. */
export function namedSession(source: SessionSource): string | undefined {
  return sessionInHeaders(source) || text(smallMember(source, "prompt_cache_key"));
}

/** What the client names, or the user's first message. */
export function sessionOf(source: SessionSource): string | undefined {
  return namedSession(source) || firstUserText(source, "input") || text(smallMember(source, "input"));
}

/** Sections that providers put before the conversation, in the order in which they cache it. */
const PROMPT = { head: ["tools", "instructions"], turns: "input" };

/** The sections of the prompt, by which weir finds the one that broke a cache. */
export function promptSections(source: SessionSource): PromptSections | undefined {
  return sectionsOf(source, PROMPT);
}
