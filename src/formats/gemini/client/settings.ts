/** Where a request has the options that the config can set by model. */
import type { SettingMember, SettingMembers } from "../../../core/format.ts";

/** Both spellings of a member of the generation config. */
function inConfig(camel: string, snake: string): SettingMember {
  return { at: [`generationConfig.${camel}`, `generation_config.${snake}`] };
}

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
