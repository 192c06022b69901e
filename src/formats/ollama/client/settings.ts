/** Where a request has the options that the config can set by model. */
import type { SettingMembers } from "../../../core/format.ts";

export const settings: SettingMembers = {
  temperature: { at: ["options.temperature"] },
  topP: { at: ["options.top_p"] },
  maxTokens: { at: ["options.num_predict"] },
  reasoningEffort: { at: ["think"] },
};
