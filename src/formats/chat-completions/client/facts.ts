/** Facts of a request that weir reads without decoding it: its cost, options, conversation and prompt. */
import type { SessionSource, SettingMembers } from "../../../core/format.ts";
import { isObject } from "../../../core/json.ts";
import type { PromptSections } from "../../../core/prompt-sections.ts";
import type { SizeMembers } from "../../../core/size-members.ts";
import { IMAGE_TOKENS } from "../../../core/tokens/image-tokens.ts";
import { sectionsOf } from "../../shared/prompt-sections.ts";
import { text } from "../../shared/read.ts";
import { firstUserText, sessionInHeaders, smallMember, userInMetadata } from "../../shared/session.ts";

/** Where a request says what decides its cost. */
export const size: SizeMembers = {
  maxTokens: ["max_completion_tokens", "max_tokens"],
  choices: "n",
  tier: "service_tier",
  tools: ["tools"],
  serverToolTypes: ["web_search", "openrouter:", "browser_search", "code_interpreter"],
  serverMembers: ["web_search_options", "search_parameters", "plugins"],
  opaque: ["functions", "tool_calls", "function_call", "response_format"],
  media: {
    // `image_url` holds the URL itself, or an object with it.
    image_url: { as: "url", most: IMAGE_TOKENS },
    url: { as: "url", in: ["image_url"], most: IMAGE_TOKENS },
    video_url: { as: "url" },
    document_url: { as: "url" },
    input_audio: { as: "data", binary: true },
    data: { as: "data", in: ["input_audio"], binary: true },
    file_data: { as: "data" },
    file_id: { as: "link" },
    signature: { as: "sealed", in: ["reasoning_details"] },
    thought_signature: { as: "sealed" },
  },
};

/** Where a request has the options that the config can set by model. */
export const settings: SettingMembers = {
  temperature: { at: ["temperature"] },
  topP: { at: ["top_p"] },
  maxTokens: { at: ["max_tokens", "max_completion_tokens"] },
  reasoningEffort: { at: ["reasoning_effort"], unless: ["reasoning", "thinking", "enable_thinking"] },
};

/** The session of the headers, the key of the prompt cache, or the user in the metadata. */
export function namedSession(source: SessionSource): string | undefined {
  const session = sessionInHeaders(source) || text(smallMember(source, "prompt_cache_key"));
  return session || userInMetadata(source);
}

/** What the client names, or the user's first message. */
export function sessionOf(source: SessionSource): string | undefined {
  return namedSession(source) ?? firstUserText(source, "messages");
}

/** Sections that providers put before the conversation, in the order in which they cache it. */
const PROMPT = { head: ["tools", "functions", "response_format"], turns: "messages" };

/** The sections of the prompt, by which weir finds the one that broke a cache. */
export function promptSections(source: SessionSource): PromptSections | undefined {
  return sectionsOf(source, PROMPT);
}
