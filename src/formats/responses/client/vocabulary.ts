/** Member names of a Responses request, by level. */
import { Vocabulary } from "../../shared/vocabulary.ts";

const CacheMark = new Vocabulary("mode ttl");

const Part = new Vocabulary(
  "type text refusal image_url file_id detail file_data file_url filename annotations logprobs",
  { input_audio: new Vocabulary("data format"), prompt_cache_breakpoint: CacheMark },
);

/** `parameters` and `output_schema` have no vocabulary: they are JSON schemas with names of the client. */
const Tool = new Vocabulary(
  "type name description parameters strict defer_loading output_schema allowed_callers execution environment",
  { format: new Vocabulary("type syntax definition"), tools: "same" },
);

/** `arguments`, `input` and `action` have no vocabulary: they hold words of the client's tools. */
const Item = new Vocabulary(
  `type role id status phase call_id name namespace arguments input encrypted_content execution action operation result
  internal_chat_message_metadata_passthrough`,
  { content: Part, summary: Part, output: Part, tools: Tool },
);

const Format = new Vocabulary("type name schema strict description");

export const REQUEST = new Vocabulary(
  `model instructions max_output_tokens max_tool_calls temperature top_p top_logprobs parallel_tool_calls include store
  previous_response_id conversation background stream truncation prompt_cache_key prompt_cache_retention safety_identifier
  user service_tier metadata client_metadata moderation personality access_programs`,
  {
    input: Item,
    tools: Tool,
    tool_choice: new Vocabulary("type name namespace mode server_label", {
      tools: new Vocabulary("type name"),
    }),
    reasoning: new Vocabulary("effort summary context mode generate_summary"),
    text: new Vocabulary("verbosity", { format: Format }),
    stream_options: new Vocabulary("include_obfuscation"),
    context_management: new Vocabulary("type compact_threshold"),
    prompt: new Vocabulary("id version variables"),
    prompt_cache_options: new Vocabulary("mode ttl prewarm comparison_response_id"),
    image: new Vocabulary("context_compression"),
  },
);
