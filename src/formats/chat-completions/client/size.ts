/** Where a request says what decides its cost. */
import type { SizeMembers } from "../../../core/size-members.ts";
import { IMAGE_TOKENS } from "../../../core/tokens/image-tokens.ts";

export const size: SizeMembers = {
  maxTokens: ["max_completion_tokens", "max_tokens"],
  choices: "n",
  tier: "service_tier",
  tools: ["tools"],
  serverToolTypes: ["web_search", "openrouter:", "browser_search", "code_interpreter"],
  serverMembers: ["web_search_options", "search_parameters", "plugins"],
  opaque: ["functions", "tool_calls", "function_call", "response_format"],
  media: {
    // `image_url` holds the URL itself, or an object with it.
    image_url: { as: "url", most: IMAGE_TOKENS },
    url: { as: "url", in: ["image_url"], most: IMAGE_TOKENS },
    video_url: { as: "url" },
    document_url: { as: "url" },
    input_audio: { as: "data", binary: true },
    data: { as: "data", in: ["input_audio"], binary: true },
    file_data: { as: "data" },
    file_id: { as: "link" },
    signature: { as: "sealed", in: ["reasoning_details"] },
    thought_signature: { as: "sealed" },
  },
};
