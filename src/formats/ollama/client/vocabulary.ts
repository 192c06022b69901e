/** Member names of a request, by level, and what becomes of those that weir does not read. */
import { IN_ANSWER, KIND, MACHINE, MATCHED, STOPPED, STREAMED } from "../../shared/silent.ts";
import { Vocabulary } from "../../shared/vocabulary.ts";

const COMMON = "model format think logprobs top_logprobs";

const LONG = "a provider refuses a prompt that does not fit, where Ollama would cut off its beginning";

const silent = (reason: string, names: string) =>
  Object.fromEntries(names.split(" ").map((name) => [name, reason]));

const Options = new Vocabulary(
  `temperature top_p top_k min_p typical_p tfs_z num_predict seed presence_penalty frequency_penalty repeat_penalty
  repeat_last_n mirostat mirostat_tau mirostat_eta penalize_newline`,
  {},
  {
    silent: {
      stop: STOPPED,
      ...silent(LONG, "num_ctx num_keep"),
      ...silent(
        MACHINE,
        "num_batch num_gpu main_gpu num_thread numa low_vram f16_kv vocab_only use_mmap use_mlock",
      ),
    },
  },
);

/** `arguments` and `parameters` have no vocabulary: they hold words of the client's tools. */
const Message = new Vocabulary(
  "role content thinking images",
  {
    tool_calls: new Vocabulary(
      "id",
      { function: new Vocabulary("name arguments", {}, { silent: { index: IN_ANSWER } }) },
      { silent: { type: KIND } },
    ),
  },
  { silent: silent(MATCHED, "tool_name name tool_call_id") },
);

const UNREAD = { silent: { stream: STREAMED, keep_alive: MACHINE, truncate: LONG, shift: LONG } };

export const REQUEST = new Vocabulary(
  COMMON,
  {
    messages: Message,
    tools: new Vocabulary(
      "",
      { function: new Vocabulary("name description parameters") },
      { silent: { type: KIND } },
    ),
    options: Options,
  },
  UNREAD,
);

export const GENERATE_REQUEST = new Vocabulary(
  `${COMMON} prompt suffix system template context raw images width height steps`,
  { options: Options },
  UNREAD,
);
