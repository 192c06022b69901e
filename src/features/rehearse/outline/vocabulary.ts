/** The words that weir itself knows: names of members and words of the formats. An outline keeps them, and no other word. */
import type { Format } from "../../../core/format.ts";
import type { Json } from "../../../core/json.ts";

/** What a word of a schema looks like. */
const WORD = /^[A-Za-z0-9][A-Za-z0-9_.\/+-]{0,47}$/;

/** Longest word that is made of known ones. Characters. */
const LONGEST = 80;

/** Words that the schemas leave open: choices of tools, efforts, and members that hosts add to a format. */
const OPEN_WORDS = `yes no true false auto none required any validated function tool custom allowed_tools minimal low medium high xhigh max default
provider models route transforms plugins preset reasoning_format include_reasoning reasoning_split chat_template_kwargs
enable_thinking thinking_budget venice_parameters search_context_size search_parameters safe_prompt prompt_mode compound_custom
citation_options documents num_ctx num_predict repeat_penalty repetition_penalty guided_json guided_choice guided_regex
structured_outputs best_of ignore_eos min_tokens context_management edits trigger keep value clear_tool_inputs exclude_tools
compact_threshold type input_type output_dimension output_dtype truncation truncate embedding_types`;

/** Parts of words that no schema has: of media types, of versions of tools, of features that headers turn on. */
const OPEN_PARTS = `application audio font image message model multipart text video plain html htm css csv tsv xml yaml markdown rtf
json jsonl ndjson javascript typescript python pdf zip gzip octet stream form data urlencoded www event vnd openxmlformats
officedocument wordprocessingml spreadsheetml presentationml document sheet presentation msword excel powerpoint opendocument
png jpeg jpg gif webp heic heif bmp tiff svg avif mpeg mpg mp mpga aac wav wave flac ogg oga opus aiff webm quicktime mov avi flv wmv
gpp pcm mulaw alaw ulaw utf charset true false null use off on
web search fetch code execution computer bash str replace based edit text editor memory clear tool tools uses thinking compact
compaction regex bm mcp client server toolset files file skills api prompt prompts caching cache extended ttl context window
exceeded management interleaved fine grained streaming token tokens efficient output input structured outputs advanced oauth
claude messages message batches batch counting effort adaptive dev full raw fast mode pdfs citations citation max assistants
realtime responses beta preview alpha latest high medium low user assistant system developer model function role tool result
results error call calls local shell apply patch custom container image generation interpreter pending completed incomplete
progress failed canceled cancelled encrypted content reasoning summary concise detailed auto ephemeral persistent standard
priority flex scale tier base url uri enabled disabled enable disable explicit omitted unknown unspecified global default all any turns
turn current last reference addition removal upload final answer commentary citations location char page block blocks redacted pro
direct summarized update create delete insert view exec configuration exit timeout outcome ok deadline resolution blocking silent
harm category harassment hate speech dangerous sexually explicit civic integrity above threshold on demand list approval request
allowed always never advisor openrouter grammar lark item persist source sources alloy ash ballad coral echo fable nova onyx sage
shimmer verse marin cedar and non action media m x only node python ts py js sdk gl gccl genai google anthropic openai`;

/** What a word that is made of parts looks like. */
const SEPARATED = /^[A-Za-z][A-Za-z0-9_.:\/+-]*$/;

/** A day at the end of a word: versions of tools and of features have one. */
const DAY = /[_-]?20[2-4]\d-?[01]\d-?[0-3]\d$/;

/** Measures and versions: `1024x1024`, `16:9`, `5m`, `0.5`, `2023-06-01`. */
const MEASURE = /^(?:20[2-4]\d-[01]\d-[0-3]\d|\d{1,4}[x:]\d{1,4}|\d{1,4}(?:\.\d{1,2})?[smhdkKM]?)$/;

/** Most digits of a word beside those of a day. */
const MOST_DIGITS = 4;

const MOST_ASKED = 4_096;

export class Vocabulary {
  readonly #words = new Set<string>();
  readonly #parts = new Set<string>();
  /** What is known of the last words that were asked for. */
  readonly #asked = new Map<string, boolean>();

  /** @param formats those of the build: what plugins declare is theirs @param names further words: those of a config */
  constructor(formats: Iterable<Format>, names: Iterable<string> = []) {
    for (const word of OPEN_WORDS.split(/\s+/)) this.#words.add(word);
    for (const { client } of formats) if (client) collect(client.request.schema, this.#words);
    for (const word of [...this.#words, ...OPEN_PARTS.split(/\s+/)])
      for (const part of partsOf(word)) this.#parts.add(part.toLowerCase());
    for (const name of names) this.#words.add(name);
  }

  has(word: string): boolean {
    return this.#words.has(word);
  }

  /**
   * Whether a string at the place of a word of a format is one, or is made of parts of them as versions of tools are:
   * `web_search_20250305`, `image/png`. What a client has made up is none.
   */
  knows(text: string): boolean {
    if (this.#words.has(text)) return true;
    if (text.length > LONGEST) return false;
    let isKnown = this.#asked.get(text);
    if (isKnown !== undefined) return isKnown;
    isKnown = MEASURE.test(text) || this.#isMade(text);
    if (this.#asked.size >= MOST_ASKED) this.#asked.clear();
    this.#asked.set(text, isKnown);
    return isKnown;
  }

  /** Whether it is made of known parts. */
  #isMade(text: string): boolean {
    const undated = text.replace(DAY, "");
    if (!SEPARATED.test(undated)) return false;
    const digits = undated.length - undated.replace(/\d/g, "").length;
    return digits <= MOST_DIGITS && partsOf(undated).every((part) => this.#parts.has(part.toLowerCase()));
  }
}

/** `webSearch_20250305`: `web` and `Search`. */
function partsOf(word: string): string[] {
  return word.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? [];
}

/** Adds the names and the fixed words of a schema. Descriptions are for people. */
function collect(schema: Json | undefined, words: Set<string>): void {
  if (typeof schema === "string") {
    for (const word of schema.split(/\s+/)) if (WORD.test(word)) words.add(word);
  } else if (Array.isArray(schema)) {
    for (const item of schema) collect(item, words);
  } else if (typeof schema === "object" && schema !== null) {
    for (const [name, value] of Object.entries(schema)) {
      if (name === "description" || name === "title" || name === "examples") continue;
      if (WORD.test(name)) words.add(name);
      collect(value, words);
    }
  }
}
