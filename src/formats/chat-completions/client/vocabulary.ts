/** Member names of a chat-completions request, by level, and what becomes of those that weir does not read. */
import {
  CACHED,
  DETAIL,
  DISPLAYED,
  FIGURES,
  IN_ANSWER,
  KIND,
  NAMED,
  STOPPED,
  STORED,
  STREAMED,
  STRICT,
} from "../../shared/silent.ts";
import { Vocabulary } from "../../shared/vocabulary.ts";

const MARKS = { cache_control: CACHED, prompt_cache_breakpoint: CACHED };

const ImageUrl = new Vocabulary("url", {}, { silent: { detail: DETAIL } });

const Part = new Vocabulary(
  "type text refusal document_name file_name thinking signature",
  {
    image_url: ImageUrl,
    video_url: new Vocabulary("url"),
    document_url: new Vocabulary("url"),
    file_url: new Vocabulary("url"),
    input_audio: new Vocabulary("data format"),
    file: new Vocabulary("file_id filename file_data"),
  },
  {
    types: "text image_url input_audio file document_url file_url refusal",
    silent: { ...MARKS, annotations: IN_ANSWER },
  },
);

/** An entry of OpenRouter's or LiteLLM's. */
const Reasoning = new Vocabulary(
  "type text summary thinking data format signature",
  {},
  { silent: { id: IN_ANSWER, index: IN_ANSWER } },
);

const NamedCall = new Vocabulary("name arguments");

const Message = new Vocabulary(
  `role name refusal tool_call_id is_error reasoning reasoning_content`,
  {
    reasoning_details: Reasoning,
    thinking_blocks: Reasoning,
    content: Part,
    tool_calls: new Vocabulary(
      "id",
      {
        extra_content: new Vocabulary("", { google: new Vocabulary("thought_signature") }),
        function: NamedCall,
        custom: new Vocabulary("name input"),
      },
      { silent: { ...MARKS, type: KIND, index: IN_ANSWER } },
    ),
    function_call: NamedCall,
    images: new Vocabulary("", { image_url: ImageUrl }, { silent: { type: KIND, index: IN_ANSWER } }),
    audio: new Vocabulary("id"),
  },
  {
    silent: {
      ...MARKS,
      annotations: IN_ANSWER,
      prefix: "a last message of the assistant is continued or reported with or without it",
    },
  },
);

/** `parameters` has no vocabulary: it is a JSON schema with names of the client. */
const Declaration = new Vocabulary("name description parameters strict", {}, { passed: true });

const Tool = new Vocabulary(
  "type",
  {
    function: Declaration,
    custom: new Vocabulary("name description", {
      format: new Vocabulary(
        "definition syntax",
        { grammar: new Vocabulary("definition syntax") },
        { silent: { type: KIND } },
      ),
    }),
  },
  {
    types: "function custom",
    silent: { ...MARKS, name: "Codex repeats the name of the function beside it" },
  },
);

const Named = new Vocabulary("name");

export const REQUEST = new Vocabulary(
  `model temperature top_p top_k max_tokens max_completion_tokens n frequency_penalty presence_penalty
  logit_bias logprobs top_logprobs seed random_seed parallel_tool_calls reasoning_effort enable_thinking safety_identifier
   service_tier modalities verbosity moderation`,
  {
    messages: Message,
    tools: Tool,
    functions: Declaration,
    function_call: Named,
    tool_choice: new Vocabulary(
      "name",
      {
        function: Named,
        custom: Named,
        allowed_tools: new Vocabulary("mode", {
          tools: new Vocabulary("name", { function: Named, custom: Named }, { silent: { type: KIND } }),
        }),
      },
      { silent: { type: KIND } },
    ),
    stream_options: new Vocabulary(
      "",
      {},
      { silent: { include_usage: STREAMED, include_obfuscation: STREAMED } },
    ),
    response_format: new Vocabulary("type", {
      json_schema: new Vocabulary("description schema", {}, { silent: { name: NAMED, strict: STRICT } }),
    }),
    audio: new Vocabulary("voice format"),
    reasoning: new Vocabulary(
      "effort max_tokens enabled summary",
      {},
      { passed: true, silent: { exclude: DISPLAYED } },
    ),
    thinking: new Vocabulary("type budget_tokens", {}, { passed: true, silent: { display: DISPLAYED } }),
    web_search_options: new Vocabulary("search_context_size user_location"),
  },
  {
    passed: true,
    lost: "min_p metadata",
    silent: {
      cache_control: CACHED,
      prompt_cache_key: CACHED,
      prompt_cache_options: CACHED,
      prompt_cache_retention: CACHED,
      prediction: "it makes the same answer come sooner",
      store: STORED,
      stop: STOPPED,
      stream: STREAMED,
      usage: FIGURES,
      user: "beside `safety_identifier`, which takes its place; alone, it is carried or reported",
    },
  },
);
