/** Member names of a request, by level. */
import { Vocabulary } from "../../shared/vocabulary.ts";

const COMMON = "model stream format think keep_alive logprobs top_logprobs truncate shift";

const Options = new Vocabulary(
  `temperature top_p top_k min_p typical_p tfs_z num_predict stop seed presence_penalty frequency_penalty repeat_penalty
  repeat_last_n mirostat mirostat_tau mirostat_eta penalize_newline num_keep num_ctx num_batch num_gpu main_gpu num_thread`,
);

/** `arguments` and `parameters` have no vocabulary: they hold words of the client's tools. */
const Message = new Vocabulary("role content thinking images tool_name tool_call_id", {
  tool_calls: new Vocabulary("id", { function: new Vocabulary("index name arguments") }),
});

export const REQUEST = new Vocabulary(COMMON, {
  messages: Message,
  tools: new Vocabulary("type", { function: new Vocabulary("name description parameters") }),
  options: Options,
});

export const GENERATE_REQUEST = new Vocabulary(
  `${COMMON} prompt suffix system template context raw images width height steps`,
  { options: Options },
);
