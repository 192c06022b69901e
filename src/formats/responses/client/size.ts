/** Where a request says what decides its cost. */
import type { SizeMembers } from "../../../core/size-members.ts";

export const size: SizeMembers = {
  maxTokens: ["max_output_tokens"],
  tier: "service_tier",
  tools: ["tools"],
  serverTools: [
    '"web_search',
    '"file_search"',
    '"code_interpreter"',
    '"mcp"',
    '"image_generation"',
    '"computer_use',
  ],
  links: {
    '"image_url":"http': 1600,
    '"image_url": "http': 1600,
    '"file_url":': 160_000,
    '"file_id":': 160_000,
  },
};
