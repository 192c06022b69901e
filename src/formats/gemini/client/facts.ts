/** Facts of a request that weir reads without decoding it: its cost, options, conversation and prompt. */
import type { SessionSource, SettingMember, SettingMembers } from "../../../core/format.ts";
import type { PromptSections } from "../../../core/prompt-sections.ts";
import type { SizeMembers } from "../../../core/size-members.ts";
import { sectionsOf } from "../../shared/prompt-sections.ts";
import { firstUserText, sessionInHeaders } from "../../shared/session.ts";

/** Where a request says what decides its cost. */
export const size: SizeMembers = {
  maxTokens: ["maxOutputTokens", "max_output_tokens"],
  within: ["generationConfig", "generation_config"],
  choices: "candidateCount",
  tier: "serviceTier",
  tools: ["tools"],
  serverToolTypes: [],
  serverToolKeys: [
    ...["googleSearch", "google_search"],
    ...["codeExecution", "code_execution"],
    ...["urlContext", "url_context"],
    ...["googleMaps", "google_maps"],
    ...["fileSearch", "file_search"],
    ...["enterpriseWebSearch", "enterprise_web_search"],
    ...["retrieval", "mcpServers", "mcp_servers"],
  ],
  opaque: ["functionCall", "function_call", "response", "responseSchema", "responseJsonSchema"],
  media: {
    data: { as: "data", in: ["inlineData", "inline_data"] },
    cachedContent: { as: "link" },
    cached_content: { as: "link" },
    fileUri: { as: "link" },
    file_uri: { as: "link" },
    thoughtSignature: { as: "sealed" },
    thought_signature: { as: "sealed" },
  },
};

/** Both spellings of a member of the generation config. */
function inConfig(camel: string, snake: string): SettingMember {
  return { at: [`generationConfig.${camel}`, `generation_config.${snake}`] };
}

/** Where a request has the options that the config can set by model. */
export const settings: SettingMembers = {
  temperature: inConfig("temperature", "temperature"),
  topP: inConfig("topP", "top_p"),
  maxTokens: inConfig("maxOutputTokens", "max_output_tokens"),
  reasoningEffort: {
    ...inConfig("thinkingConfig.thinkingLevel", "thinking_config.thinking_level"),
    unless: [
      "generationConfig.thinkingConfig.thinkingBudget",
      "generation_config.thinking_config.thinking_budget",
    ],
  },
};

/** The session of the headers, or the user's first message. */
export function sessionOf(source: SessionSource): string | undefined {
  return sessionInHeaders(source) ?? firstUserText(source, "contents");
}

/** Sections that providers put before the conversation, in the order in which they cache it. */
const PROMPT = { head: ["tools", "systemInstruction", "system_instruction"], turns: "contents" };

/** The sections of the prompt, by which weir finds the one that broke a cache. */
export function promptSections(source: SessionSource): PromptSections | undefined {
  return sectionsOf(source, PROMPT);
}
