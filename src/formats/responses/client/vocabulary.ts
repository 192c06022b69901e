/** Member names of a Responses request, by level, and what becomes of those that weir does not read. */
import {
  CACHED,
  DETAIL,
  IN_ANSWER,
  KIND,
  LOADED,
  NAMED,
  STORED,
  STREAMED,
  STRICT,
} from "../../shared/silent.ts";
import { Vocabulary } from "../../shared/vocabulary.ts";

const MARKS = { cache_control: CACHED, prompt_cache_breakpoint: CACHED };
const CODEX = "Codex writes it for OpenAI's own records";

const Part = new Vocabulary(
  // An output of a shell has the last three.
  "type text refusal image_url file_id file_data file_url filename stdout stderr",
  {
    input_audio: new Vocabulary("data format"),
    outcome: new Vocabulary("exit_code", {}, { silent: { type: KIND } }),
  },
  {
    types:
      "input_text output_text text refusal input_image input_file input_audio summary_text reasoning_text",
    silent: { ...MARKS, detail: DETAIL, annotations: IN_ANSWER, logprobs: IN_ANSWER },
  },
);

/** `parameters` has no vocabulary: it is a JSON schema with names of the client. */
const Tool = new Vocabulary(
  "type name description parameters strict execution environment",
  {
    format: new Vocabulary(
      "syntax definition",
      { grammar: new Vocabulary("syntax definition") },
      { silent: { type: KIND } },
    ),
    function: new Vocabulary("name description parameters strict"),
    custom: new Vocabulary("name description format"),
    tools: "same",
  },
  {
    rebuilt: "function custom namespace local_shell shell apply_patch tool_search",
    lost: "output_schema allowed_callers",
    silent: { ...MARKS, defer_loading: LOADED },
  },
);

/** `arguments`, `input` and `action` have no vocabulary: they hold words of the client's tools. */
const Item = new Vocabulary(
  `type role call_id name namespace arguments input encrypted_content execution result error`,
  {
    content: Part,
    summary: new Vocabulary("text", {}, { silent: { type: KIND } }),
    action: new Vocabulary(
      "command working_directory timeout_ms commands query",
      {},
      { lost: "env user max_output_length", silent: { type: KIND } },
    ),
    operation: new Vocabulary("type path diff"),
    output: Part,
    tools: Tool,
    reasoning: new Vocabulary("effort"),
    text: new Vocabulary("", { format: new Vocabulary("type name schema strict description") }),
  },
  {
    types: `message reasoning function_call custom_tool_call local_shell_call shell_call apply_patch_call function_call_output custom_tool_call_output
    local_shell_call_output shell_call_output apply_patch_call_output additional_tools tool_search_output configuration_update`,
    lost: "max_output_length",
    silent: {
      id: IN_ANSWER,
      status: IN_ANSWER,
      phase: "tells OpenAI's models which of their texts were comments; others read the texts alone",
      internal_chat_message_metadata_passthrough: CODEX,
    },
  },
);

const Named = new Vocabulary("name");
const Choice = new Vocabulary(
  "name namespace server_label",
  { function: Named, custom: Named },
  { silent: { type: KIND } },
);

const Format = new Vocabulary("type schema description", {}, { silent: { name: NAMED, strict: STRICT } });

export const REQUEST = new Vocabulary(
  `model instructions max_output_tokens temperature top_p top_logprobs parallel_tool_calls include previous_response_id
  conversation background truncation safety_identifier service_tier moderation`,
  {
    input: Item,
    tools: Tool,
    tool_choice: new Vocabulary("type name namespace mode server_label", {
      tools: Choice,
      function: Named,
      custom: Named,
      allowed_tools: new Vocabulary("mode", { tools: Choice }),
    }),
    reasoning: new Vocabulary("effort summary mode generate_summary", {}, { passed: true, lost: "context" }),
    text: new Vocabulary("verbosity", { format: Format }, { passed: true }),
    stream_options: new Vocabulary("", {}, { silent: { include_obfuscation: STREAMED } }),
    context_management: new Vocabulary("type compact_threshold"),
    prompt: new Vocabulary("id version variables"),
  },
  {
    passed: true,
    lost: "metadata personality access_programs image",
    silent: {
      cache_control: CACHED,
      prompt_cache_key: CACHED,
      prompt_cache_options: CACHED,
      prompt_cache_retention: CACHED,
      store: STORED,
      stream: STREAMED,
      user: "beside `safety_identifier`, which takes its place; alone, it is carried or reported",
      max_tool_calls: "counts only calls of tools that the vendor runs, which other providers do not get",
      client_metadata: CODEX,
    },
  },
);
