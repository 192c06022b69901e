/** Where a request says what decides its cost. */
import type { SizeMembers } from "../../../core/size-members.ts";

export const size: SizeMembers = {
  maxTokens: ["max_tokens"],
  tier: "service_tier",
  speed: "speed",
  tools: ["tools"],
  serverTools: ['"web_search_', '"web_fetch_', '"code_execution_', '"tool_search_tool'],
  serverToolMembers: ["mcp_servers"],
  // An image or a document: the kind stands in the block around the source.
  links: {
    '"type":"url"': 160_000,
    '"type": "url"': 160_000,
    '"type":"file"': 160_000,
    '"type": "file"': 160_000,
  },
};
