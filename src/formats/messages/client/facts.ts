/** Facts of a request that weir reads without decoding it: its cost, options, conversation and prompt. */
import type { SessionSource, SettingMembers } from "../../../core/format.ts";
import { isObject } from "../../../core/json.ts";
import type { PromptSections } from "../../../core/prompt-sections.ts";
import type { SizeMembers } from "../../../core/size-members.ts";
import { sectionsOf } from "../../shared/prompt-sections.ts";
import { text } from "../../shared/read.ts";
import { firstUserText, sessionInHeaders, userInMetadata } from "../../shared/session.ts";

/** Where a request says what decides its cost. */
export const size: SizeMembers = {
  maxTokens: ["max_tokens"],
  tier: "service_tier",
  speed: "speed",
  tools: ["tools"],
  serverToolTypes: [
    "web_search_",
    "web_fetch_",
    "code_execution_",
    "tool_search_tool",
    "mcp_toolset",
    "advisor_",
  ],
  serverMembers: ["mcp_servers"],
  opaque: ["input", "output_config", "output_format"],
  media: {
    // An image or a document: the kind is in the block around the source.
    data: { as: "data", in: ["source"], type: "base64" },
    url: { as: "url", in: ["source"] },
    file_id: { as: "link" },
    signature: { as: "sealed" },
  },
};

/** Where a request has the options that the config can set by model. */
export const settings: SettingMembers = {
  temperature: { at: ["temperature"] },
  topP: { at: ["top_p"] },
  maxTokens: { at: ["max_tokens"] },
  reasoningEffort: { at: ["output_config.effort"], unless: ["thinking"] },
};

/** The session of the headers, or the user in the metadata. */
export function namedSession(source: SessionSource): string | undefined {
  return sessionInHeaders(source) ?? userInMetadata(source);
}

/** What the client names, or the user's first message. */
export function sessionOf(source: SessionSource): string | undefined {
  return namedSession(source) ?? firstUserText(source, "messages");
}

/** Sections that providers put before the conversation, in the order in which they cache it. */
const PROMPT = { head: ["tools", "system", "tool_choice", "thinking"], turns: "messages" };

/** The sections of the prompt, by which weir finds the one that broke a cache. */
export function promptSections(source: SessionSource): PromptSections | undefined {
  return sectionsOf(source, PROMPT);
}
