/** Where a request says what decides its cost. */
import type { SizeMembers } from "../../../core/size-members.ts";

export const size: SizeMembers = {
  maxTokens: ["maxOutputTokens", "max_output_tokens"],
  within: ["generationConfig", "generation_config"],
  choices: "candidateCount",
  tier: "serviceTier",
  tools: ["tools"],
  serverToolTypes: [],
  serverToolKeys: [
    ...["googleSearch", "google_search"],
    ...["codeExecution", "code_execution"],
    ...["urlContext", "url_context"],
    ...["googleMaps", "google_maps"],
    ...["fileSearch", "file_search"],
    ...["enterpriseWebSearch", "enterprise_web_search"],
    ...["retrieval", "mcpServers", "mcp_servers"],
  ],
  opaque: ["functionCall", "function_call", "response", "responseSchema", "responseJsonSchema"],
  media: {
    data: { as: "data", in: ["inlineData", "inline_data"] },
    cachedContent: { as: "link" },
    cached_content: { as: "link" },
    fileUri: { as: "link" },
    file_uri: { as: "link" },
    thoughtSignature: { as: "sealed" },
    thought_signature: { as: "sealed" },
  },
};
