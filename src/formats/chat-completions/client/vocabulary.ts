/** Member names of a chat-completions request, by level. */
import { Vocabulary } from "../../shared/vocabulary.ts";

const CacheControl = new Vocabulary("type ttl");

const ImageUrl = new Vocabulary("url detail");

const Part = new Vocabulary("type text refusal annotations thinking signature", {
  image_url: ImageUrl,
  video_url: new Vocabulary("url"),
  document_url: new Vocabulary("url"),
  file_url: new Vocabulary("url"),
  input_audio: new Vocabulary("data format"),
  file: new Vocabulary("file_id filename file_data"),
  cache_control: CacheControl,
});

const NamedCall = new Vocabulary("name arguments");

const Message = new Vocabulary(
  "role name refusal tool_call_id annotations reasoning reasoning_content reasoning_details thinking_blocks prefix",
  {
    content: Part,
    tool_calls: new Vocabulary("id type index", {
      function: NamedCall,
      custom: new Vocabulary("name input"),
    }),
    function_call: NamedCall,
    images: new Vocabulary("type index", { image_url: ImageUrl }),
    audio: new Vocabulary("id"),
    cache_control: CacheControl,
  },
);

/** `parameters` has no vocabulary: it is a JSON schema with names of the client. */
const Declaration = new Vocabulary("name description parameters strict");

const Tool = new Vocabulary("type", {
  function: Declaration,
  custom: new Vocabulary("name description", {
    format: new Vocabulary("type", { grammar: new Vocabulary("definition syntax") }),
  }),
  cache_control: CacheControl,
});

const Named = new Vocabulary("name");

export const REQUEST = new Vocabulary(
  `model stream temperature top_p top_k min_p max_tokens max_completion_tokens n stop frequency_penalty presence_penalty
  logit_bias logprobs top_logprobs seed parallel_tool_calls reasoning_effort user safety_identifier prompt_cache_key
  prompt_cache_retention service_tier metadata store modalities verbosity`,
  {
    messages: Message,
    tools: Tool,
    functions: Declaration,
    function_call: Named,
    tool_choice: new Vocabulary("type", {
      function: Named,
      custom: Named,
      allowed_tools: new Vocabulary("mode tools"),
    }),
    stream_options: new Vocabulary("include_usage include_obfuscation"),
    response_format: new Vocabulary("type", {
      json_schema: new Vocabulary("name description schema strict"),
    }),
    audio: new Vocabulary("voice format"),
    prediction: new Vocabulary("type", { content: Part }),
    reasoning: new Vocabulary("effort max_tokens exclude enabled summary"),
    thinking: new Vocabulary("type budget_tokens"),
    web_search_options: new Vocabulary("search_context_size user_location"),
  },
);
