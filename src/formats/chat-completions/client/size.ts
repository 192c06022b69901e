/** Where a request says what decides its cost. */
import type { SizeMembers } from "../../../core/size-members.ts";

export const size: SizeMembers = {
  maxTokens: ["max_completion_tokens", "max_tokens"],
  choices: "n",
  tier: "service_tier",
  tools: ["tools"],
  serverTools: ['"web_search', '"openrouter:', '"browser_search', '"code_interpreter'],
  serverToolMembers: ["web_search_options", "plugins"],
  links: { '"image_url":{"url":"http': 1600, '"image_url": {"url": "http': 1600, '"document_url":': 160_000 },
};
