/** Where a request says what decides its cost. */
import type { SizeMembers } from "../../../core/size-members.ts";

export const size: SizeMembers = {
  maxTokens: ["num_predict"],
  within: ["options"],
  tools: ["tools"],
  serverToolTypes: [],
  opaque: ["tool_calls", "format"],
  media: { images: { as: "data", binary: true } },
};
