/** Facts of a request that weir reads without decoding it. */
import type { SettingMembers } from "../../../core/format.ts";
import type { SizeMembers } from "../../../core/size-members.ts";

/** Where a request says what decides its cost. The vendor bills all of `best_of`, and each prompt of a list. */
export const size: SizeMembers = {
  maxTokens: ["max_tokens"],
  choices: ["n", "best_of"],
  listed: "prompt",
  tools: [],
  serverToolTypes: [],
};

/** Where a request has the options that the config can set by model. */
export const settings: SettingMembers = {
  temperature: { at: ["temperature"] },
  topP: { at: ["top_p"] },
  maxTokens: { at: ["max_tokens"] },
};
