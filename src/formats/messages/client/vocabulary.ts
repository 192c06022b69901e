/** Member names of a Messages request, by level. */
import { Vocabulary } from "../../shared/vocabulary.ts";

const CacheControl = new Vocabulary("type ttl");

/** `input` has no vocabulary: it holds the arguments of a tool, with names of the client. */
const Block = new Vocabulary(
  "type text title context id name input tool_use_id is_error thinking signature data citations caller toolset_name file_id",
  {
    content: "same",
    source: new Vocabulary("type media_type data url file_id content"),
    cache_control: CacheControl,
  },
);

/** `input_schema` (a JSON schema) and `input_examples` (arguments) have no vocabulary. */
const Tool = new Vocabulary(
  `type name description input_schema input_examples strict eager_input_streaming defer_loading allowed_callers max_uses
  allowed_domains blocked_domains user_location display_width_px display_height_px display_number max_characters`,
  { cache_control: CacheControl },
);

export const REQUEST = new Vocabulary(
  `model max_tokens stream temperature top_p top_k stop_sequences metadata service_tier container context_management
  mcp_servers inference_geo speed`,
  {
    messages: new Vocabulary("role", { content: Block }),
    system: Block,
    tools: Tool,
    tool_choice: new Vocabulary("type name disable_parallel_tool_use"),
    thinking: new Vocabulary("type budget_tokens display"),
    output_config: new Vocabulary("effort task_budget", { format: new Vocabulary("type schema") }),
    output_format: new Vocabulary("type schema"),
    cache_control: CacheControl,
  },
);
