/** Where a request has the options that the config can set by model. */
import type { SettingMembers } from "../../../core/format.ts";

export const settings: SettingMembers = {
  temperature: { at: ["temperature"] },
  topP: { at: ["top_p"] },
  maxTokens: { at: ["max_tokens"] },
  reasoningEffort: { at: ["output_config.effort"], unless: ["thinking"] },
};
