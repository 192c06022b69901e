/** Where a request says what decides its cost. */
import type { SizeMembers } from "../../../core/size-members.ts";

export const size: SizeMembers = {
  maxTokens: ["max_tokens"],
  tier: "service_tier",
  speed: "speed",
  tools: ["tools"],
  serverToolTypes: [
    "web_search_",
    "web_fetch_",
    "code_execution_",
    "tool_search_tool",
    "mcp_toolset",
    "advisor_",
  ],
  serverMembers: ["mcp_servers"],
  opaque: ["input", "output_config", "output_format"],
  media: {
    // An image or a document: the kind stands in the block around the source.
    data: { as: "data", in: ["source"], type: "base64" },
    url: { as: "url", in: ["source"] },
    file_id: { as: "link" },
    signature: { as: "sealed" },
  },
};
