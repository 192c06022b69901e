/** Where a request says what decides its cost. */
import type { SizeMembers } from "../../../core/size-members.ts";
import { IMAGE_TOKENS } from "../../../core/tokens/image-tokens.ts";

export const size: SizeMembers = {
  maxTokens: ["max_output_tokens"],
  tier: "service_tier",
  tools: ["tools"],
  serverToolTypes: [
    "web_search",
    "file_search",
    "code_interpreter",
    "mcp",
    "image_generation",
    "computer_use",
  ],
  // A stored prompt may hold tools.
  serverMembers: ["prompt"],
  opaque: ["arguments", "action", "text"],
  media: {
    image_url: { as: "url", most: IMAGE_TOKENS },
    data: { as: "data", in: ["input_audio"], binary: true },
    file_data: { as: "data" },
    file_url: { as: "url" },
    id: { as: "link", in: ["prompt"] },
    file_id: { as: "link" },
    encrypted_content: { as: "sealed" },
  },
};
