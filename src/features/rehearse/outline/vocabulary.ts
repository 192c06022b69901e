/** The words that weir itself knows: names of members and words of the formats. An outline keeps them, and no other word. */
import type { Format } from "../../../core/format.ts";
import type { Json } from "../../../core/json.ts";

/** What a word of a format looks like: `tool_use`, `image/png`, `1024x1024`, `clear_tool_uses_20250919`. */
const WORD = /^[A-Za-z0-9][A-Za-z0-9_.\/+-]{0,47}$/;

/** Words that the schemas leave open: choices of tools, efforts, and members that hosts add to a format. */
const OPEN_WORDS = `yes no true false auto none required any validated function tool custom allowed_tools minimal low medium high xhigh max default
provider models route transforms plugins preset reasoning_format include_reasoning reasoning_split chat_template_kwargs
enable_thinking thinking_budget venice_parameters search_context_size search_parameters safe_prompt prompt_mode compound_custom
citation_options documents num_ctx num_predict repeat_penalty repetition_penalty guided_json guided_choice guided_regex
structured_outputs best_of ignore_eos min_tokens context_management edits trigger keep value clear_tool_inputs exclude_tools
compact_threshold type`;

/** Whether a string at the place of a word of the format is one. */
export function isWord(text: string): boolean {
  return WORD.test(text);
}

export class Vocabulary {
  readonly #words = new Set<string>();

  /** @param formats those of the build: what plugins declare is theirs */
  constructor(formats: Iterable<Format>) {
    for (const word of OPEN_WORDS.split(/\s+/)) this.#words.add(word);
    for (const { client } of formats) if (client) collect(client.request.schema, this.#words);
  }

  has(word: string): boolean {
    return this.#words.has(word);
  }
}

/** Adds the names and the fixed words of a schema. Descriptions are for people. */
function collect(schema: Json | undefined, words: Set<string>): void {
  if (typeof schema === "string") {
    for (const word of schema.split(/\s+/)) if (isWord(word)) words.add(word);
  } else if (Array.isArray(schema)) {
    for (const item of schema) collect(item, words);
  } else if (typeof schema === "object" && schema !== null) {
    for (const [name, value] of Object.entries(schema)) {
      if (name === "description" || name === "title" || name === "examples") continue;
      if (isWord(name)) words.add(name);
      collect(value, words);
    }
  }
}
