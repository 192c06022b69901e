/** Member names of a Messages request, by level, and what becomes of those that weir does not read. */
import { CACHED, DISPLAYED, LOADED, MEDIA_TYPE, STOPPED, STREAMED } from "../../shared/silent.ts";
import { Vocabulary } from "../../shared/vocabulary.ts";

const MARK = { cache_control: CACHED };

/** The blocks that a document consists of are texts and images. */
const FILE = "type data url file_id";
const TYPED = { silent: { media_type: MEDIA_TYPE } };
const Source = new Vocabulary(
  FILE,
  {
    content: new Vocabulary(
      "type text citations",
      { source: new Vocabulary(FILE, {}, TYPED) },
      { silent: MARK },
    ),
  },
  TYPED,
);

/** `input` has no vocabulary: it holds the arguments of a tool, with names of the client. */
const Block = new Vocabulary(
  "type text title context id name input tool_use_id is_error thinking signature data caller toolset_name file_id",
  { content: "same", source: Source, citations: new Vocabulary("enabled") },
  { types: "text image document thinking redacted_thinking tool_use tool_result", silent: MARK },
);

/** `input_schema` (a JSON schema) and `input_examples` (arguments) have no vocabulary. */
const Tool = new Vocabulary(
  "type name description input_schema input_examples strict",
  {},
  {
    passed: true,
    lost: `allowed_callers max_uses allowed_domains blocked_domains user_location display_width_px display_height_px
    display_number max_characters`,
    silent: { ...MARK, eager_input_streaming: STREAMED, defer_loading: LOADED },
  },
);

export const REQUEST = new Vocabulary(
  `model max_tokens temperature top_p top_k service_tier container context_management mcp_servers
  inference_geo speed compaction fallbacks safeguards thread`,
  {
    messages: new Vocabulary(
      "role clear_at",
      { content: Block, output_config: new Vocabulary("effort") },
      { silent: MARK },
    ),
    system: Block,
    tools: Tool,
    tool_choice: new Vocabulary("type name disable_parallel_tool_use"),
    thinking: new Vocabulary(
      "type budget_tokens",
      {},
      { passed: true, lost: "block_binding", silent: { display: DISPLAYED } },
    ),
    metadata: new Vocabulary("user_id", {}, { passed: true, free: true }),
    output_config: new Vocabulary(
      "effort",
      { format: new Vocabulary("type schema") },
      { passed: true, lost: "task_budget" },
    ),
    output_format: new Vocabulary("type schema"),
  },
  { passed: true, lost: "tags", silent: { ...MARK, stop_sequences: STOPPED, stream: STREAMED } },
);
