/**
 * The canonical request: what every client format is decoded into and every upstream format is encoded from.
 *
 * It has the block model of the Messages format plus ids, provenance and cache marks: that is the only wire grammar that
 * keeps the order of content and loses nothing. Unknown top-level fields are stored in `extra` under the format that owns
 * them. Unknown blocks become `foreign` blocks, which are written only to the format that they came from.
 */
import type { Json, JsonObject } from "./json.ts";

/** A conversation and the options for its answer. An absent option means the provider's default. */
export interface ChatRequest {
  /** The model name as the client wrote it. */
  model: string;
  turns: Turn[];
  /** The request asks for the continuation of a text: `turns` has the prompt as one turn of the user. */
  completion?: { prompt: string; suffix?: string };
  tools: Tool[];
  toolChoice?: ToolChoice;
  /** `false`: at most one tool call in the answer. */
  parallelToolCalls?: boolean;
  /** Maximum number of generated tokens, including reasoning. */
  maxTokens?: number;
  temperature?: number;
  topP?: number;
  topK?: number;
  /** Stop sequences; the answer ends before the first match. */
  stop: string[];
  stream: boolean;
  reasoning?: ReasoningOptions;
  answerFormat?: AnswerFormat;
  /** How long the answer's text should be, in the word of the client: `low`, `medium`, `high`. */
  verbosity?: string;
  /** Asks the provider to cache as much of the prompt as it can. */
  cache?: CacheMark;
  /** The end user's id as the client sent it; hashed before weir sends it to a provider. */
  user?: string;
  /** Prompt cache key or session id, the same for all calls of a conversation. Used for affinity. */
  session?: string;
  /** `auto`, `standard` (no faster or cheaper tier), `flex`, `priority`, or a tier that only the client's format has. */
  serviceTier?: string;
  /** How the client expects its answer; the client codec reads it when it encodes. */
  style: AnswerStyle;
  /** Fields without a canonical equivalent, by the id of the format that owns them. */
  extra: Record<string, JsonObject>;
  /** The effect of losing a field in `extra`, by the same ids. */
  ownFields?: Readonly<Record<string, OwnFields>>;
  /** Where the client codec found each field. */
  paths?: FieldPaths;
}

/**
 * The effect when a provider of another format cannot receive a field that weir knows. The client codec names all others
 * that the provider does not get (`codec.leftOut`).
 */
export type OwnFields = Readonly<Record<string, OwnField>>;

export interface OwnField {
  /** Whether the client depends on the value; weir refuses the request. */
  refuse?(value: Json): boolean;
  /** Why weir refuses, as a clause for the error: `only one choice can be generated`. */
  reason?: string;
  /** Whether the answer may differ without the value; weir reports the loss. */
  report?(value: Json): boolean;
  /** The meaning of the value in every format that has such a field. */
  means?: SharedField;
}

/** Fields that some formats have under names of their own, with the same values. */
export type SharedField = "seed" | "presencePenalty" | "frequencyPenalty";

/** JSON path of each field in the client's request, for losses and errors: `stop` is at `stop_sequences`. */
export type FieldPaths = Readonly<Partial<Record<RequestField, string>>>;

export type RequestField =
  | "turns"
  | "toolChoice"
  | "parallelToolCalls"
  | "maxTokens"
  | "temperature"
  | "topP"
  | "topK"
  | "stop"
  | "reasoning"
  | "effort"
  | "answerFormat"
  | "verbosity"
  | "serviceTier"
  | "user";

/** A part of the request that the client codec found at a path. A part that a plugin adds has none. */
interface Placed {
  /** JSON path in the client's request (`messages[2].content[0]`), for losses and errors. */
  path?: string;
}

/** Parts of the request that a client codec remembers to encode the answer. */
export interface AnswerStyle {
  /** chat-completions `stream_options.include_usage`. */
  includeUsage?: boolean;
  /** chat-completions legacy `functions`: answer with `function_call`. */
  legacyFunctions?: boolean;
  /** The client does not want to see reasoning. */
  hideReasoning?: boolean;
  /** The client wants to see the calls of hosted tools, though its format has no words for them. */
  showHosted?: boolean;
  /** responses: members of the request that the answer repeats, as the client wrote them. */
  echo?: JsonObject;
  /** responses: messages that the answer to a compaction repeats. */
  kept?: readonly JsonObject[];
}

export type Role = "system" | "user" | "assistant";

/** One message. Tool results are blocks of a user turn. Consecutive turns may have the same role. */
export interface Turn extends Placed {
  role: Role;
  blocks: Block[];
  /** Participant name (chat-completions `name`). */
  name?: string;
  /** Per-message effort (messages `output_config.effort` on a system turn). */
  effort?: string;
}

/** Marks the end of a cacheable prefix; `ttl` uses the values of the Messages format. */
export interface CacheMark {
  ttl?: "5m" | "1h";
}

interface Marked extends Placed {
  cache?: CacheMark;
}

export type Block =
  | TextBlock
  | ImageBlock
  | DocumentBlock
  | AudioBlock
  | ReasoningBlock
  | ToolCallBlock
  | ToolResultBlock
  | RefusalBlock
  | ForeignBlock;

export interface TextBlock extends Marked {
  type: "text";
  text: string;
  /** Of a turn of the assistant: whether the text commented on the work or was the answer, in the provider's own word. */
  phase?: string;
  /** The only format whose providers read the text; others do not get it, and weir reports no loss. */
  onlyFor?: string;
}

/** Bytes, a URL, or the id of a file at one vendor. `data` is base64 without a `data:` prefix. */
export type Source =
  | { type: "base64"; mediaType: string; data: string }
  | { type: "url"; url: string }
  | { type: "file"; id: string };

export interface ImageBlock extends Marked {
  type: "image";
  source: Source;
  /** How large the model sees the image: `low`, or a word for full size. */
  detail?: string;
  /** JSON path of `detail` in the client's request. */
  detailPath?: string;
}

export interface DocumentBlock extends Marked {
  type: "document";
  source: Source | { type: "text"; mediaType: string; text: string } | { type: "blocks"; blocks: Block[] };
  title?: string;
  context?: string;
  /** The client asked for citations into this document. */
  citations?: boolean;
}

export interface AudioBlock extends Placed {
  type: "audio";
  data: string;
  format: string;
}

/**
 * A reasoning block. `signature` and `redacted` are opaque to weir: only the vendor that made them accepts them, and only
 * unchanged. `origin` names that vendor.
 */
export interface ReasoningBlock extends Placed {
  type: "reasoning";
  text: string;
  /** The parts of a summary; `text` is these, joined by blank lines. */
  parts?: readonly string[];
  signature?: string;
  /** Encrypted reasoning that has no text (messages `redacted_thinking.data`). */
  redacted?: string;
  /** Who signed it: `anthropic` for plain signatures of the Messages format, else the provider's name. */
  origin?: string;
}

export interface ToolCallBlock extends Marked {
  type: "tool-call";
  id: string;
  name: string;
  /** The arguments as JSON text, or the raw input of a custom tool. */
  input: string;
  /** JSON path of the arguments in the client's request. */
  inputPath?: string;
  /** `custom`: a free-form tool of chat-completions, whose input is text and not JSON. */
  kind: "function" | "custom";
}

export interface ToolResultBlock extends Marked {
  type: "tool-result";
  /** The id of the call it answers; empty for legacy function results, which carry the function's name instead. */
  id: string;
  name?: string;
  blocks: Block[];
  error?: boolean;
}

export interface RefusalBlock extends Placed {
  type: "refusal";
  text: string;
}

/** A block that only one format has; `value` is its complete wire form. */
export interface ForeignBlock extends Placed {
  type: "foreign";
  format: string;
  value: Json;
  /** Its content as plain text, for formats without such a block. */
  text?: string;
  /**
   * An equivalent block that every format has. Without `instead` and `text`, a format without such a block refuses the
   * request; in a turn of the assistant it drops the block and reports the loss.
   */
  instead?: Block;
}

export interface Tool extends Marked {
  /** `foreign`: a server tool or another kind that only `format` has; `value` is its complete declaration. */
  kind: "function" | "custom" | "foreign";
  name: string;
  description?: string;
  /** JSON schema of the arguments (kind `function`). */
  parameters?: JsonObject;
  strict?: boolean;
  /** The grammar that the input follows (kind `custom`). */
  grammar?: { syntax: string; definition: string };
  /** The vendor itself searches the web (kind `foreign`). */
  searchesWeb?: boolean;
  /** JSON paths of its members in the client's request. */
  memberPaths?: Readonly<Partial<Record<ToolMember, string>>>;
  /** The format that owns `value`: members without a canonical equivalent, or the declaration of a foreign tool. */
  format?: string;
  value?: JsonObject;
}

/** `format`: the grammar of a custom tool. */
export type ToolMember = "parameters" | "strict" | "format";

export type ToolChoice =
  | { type: "auto" }
  | { type: "none" }
  | { type: "required" }
  | { type: "tool"; name: string }
  /** Only these tools may be called (chat-completions `allowed_tools`). */
  | { type: "allowed"; names: string[]; required: boolean };

/** How much the model should reason before it answers. */
export interface ReasoningOptions {
  /** `off`: no reasoning; `adaptive`: the model decides; `budget`: at most `budget` tokens; `between-tools`. */
  mode?: "off" | "adaptive" | "budget" | "between-tools";
  effort?: string;
  /** Tokens. */
  budget?: number;
  /** `omitted`: the answer should not contain the reasoning text. */
  display?: string;
}

export type AnswerFormat =
  | { type: "text" }
  | { type: "json" }
  | { type: "json-schema"; name?: string; description?: string; schema: JsonObject; strict?: boolean };
