/** Where a request says what decides its cost. */
import type { SizeMembers } from "../../../core/size-members.ts";

export const size: SizeMembers = {
  maxTokens: ["maxOutputTokens", "max_output_tokens"],
  within: ["generationConfig", "generation_config"],
  choices: "candidateCount",
  tier: "serviceTier",
  tools: ["tools"],
  serverTools: [
    '"googleSearch',
    '"google_search',
    '"codeExecution"',
    '"code_execution"',
    '"urlContext"',
    '"url_context"',
    '"googleMaps"',
    '"google_maps"',
    '"fileSearch"',
    '"file_search"',
  ],
  links: { '"fileUri":': 160_000, '"file_uri":': 160_000 },
};
