/**
 * The canonical request: what every client format is decoded into and every upstream format is encoded from.
 *
 * It is the block model of the Messages format plus ids, provenance and cache marks, because that is the only one
 * of the wire grammars that loses nothing: order is content. Unknown top-level fields travel in `extra` under the
 * format that owns them; unknown blocks travel as `foreign` and are written out only to the format that minted them.
 */
import type { Json, JsonObject } from "./json.ts";

/** A whole conversation and what is wished of the answer. Absent means: the upstream's own default. */
export interface ChatRequest {
  /** The model name as the client wrote it. */
  model: string;
  turns: Turn[];
  tools: Tool[];
  toolChoice?: ToolChoice;
  /** `false`: at most one tool call in the answer. */
  parallelToolCalls?: boolean;
  /** Upper limit of generated tokens, reasoning included. */
  maxTokens?: number;
  temperature?: number;
  topP?: number;
  topK?: number;
  /** Texts that end the answer; they are not part of it. */
  stop: string[];
  stream: boolean;
  reasoning?: ReasoningOptions;
  answerFormat?: AnswerFormat;
  /** A mark that asks the upstream to cache as much of the prompt as it can. */
  cache?: CacheMark;
  /** The end user as the client names them; hashed before it leaves. */
  user?: string;
  /** What ties calls of one conversation together: prompt cache key or session id. Used for affinity. */
  session?: string;
  /** The client's own word for the service tier. */
  serviceTier?: string;
  /** How the client wants its answer written; read by its own codec when encoding. */
  style: AnswerStyle;
  /** Fields the canonical request has no place for, by the id of the format that owns them. */
  extra: Record<string, JsonObject>;
}

/** What a client codec has to remember of the request to write the answer. */
export interface AnswerStyle {
  /** chat-completions `stream_options.include_usage`. */
  includeUsage?: boolean;
  /** chat-completions legacy `functions`: answer with `function_call`. */
  legacyFunctions?: boolean;
  /** Reasoning is not to be shown. */
  hideReasoning?: boolean;
}

export type Role = "system" | "user" | "assistant";

/** One message. Tool results are blocks of a user turn. Same-role turns may follow each other. */
export interface Turn {
  role: Role;
  blocks: Block[];
  /** Participant name (chat-completions `name`). */
  name?: string;
  /** Per-message effort (messages `output_config.effort` on a system turn). */
  effort?: string;
}

/** Where a prompt cache may cut; `ttl` in the words of the Messages format. */
export interface CacheMark {
  ttl?: "5m" | "1h";
}

interface Marked {
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
}

/** Bytes, a place, or a name at one vendor. `data` is base64 without a `data:` prefix. */
export type Source =
  | { type: "base64"; mediaType: string; data: string }
  | { type: "url"; url: string }
  | { type: "file"; id: string };

export interface ImageBlock extends Marked {
  type: "image";
  source: Source;
  /** chat-completions `detail`. */
  detail?: string;
}

export interface DocumentBlock extends Marked {
  type: "document";
  source: Source | { type: "text"; mediaType: string; text: string } | { type: "blocks"; blocks: Block[] };
  title?: string;
  context?: string;
  /** The client asked for citations into this document. */
  citations?: boolean;
}

export interface AudioBlock {
  type: "audio";
  data: string;
  format: string;
}

/**
 * A run of reasoning. `signature` and `redacted` are opaque bytes of the vendor that made them and must reach it
 * unchanged or not at all; `origin` says who that is.
 */
export interface ReasoningBlock {
  type: "reasoning";
  text: string;
  signature?: string;
  /** Encrypted reasoning that has no text (messages `redacted_thinking.data`). */
  redacted?: string;
  /** Who signed it: `anthropic` for unwrapped signatures of the Messages format, else the provider's name. */
  origin?: string;
}

export interface ToolCallBlock extends Marked {
  type: "tool-call";
  id: string;
  name: string;
  /** The arguments as JSON text, or the raw input of a custom tool. */
  input: string;
  /** `custom`: a free-form tool of chat-completions, whose input is text and not JSON. */
  kind: "function" | "custom";
}

export interface ToolResultBlock extends Marked {
  type: "tool-result";
  /** The id of the call it answers; empty for legacy function results, which name the function. */
  id: string;
  name?: string;
  blocks: Block[];
  error?: boolean;
}

export interface RefusalBlock {
  type: "refusal";
  text: string;
}

/** A block only one format knows; `value` is its wire form, whole. */
export interface ForeignBlock {
  type: "foreign";
  format: string;
  value: Json;
  /** What it says, as plain text, for formats that do not know it. */
  text?: string;
  /**
   * The same as a block every format knows. Without it and without `text`, a format that does not know the block refuses the
   * request; of what the assistant said it leaves it out with a warning.
   */
  instead?: Block;
}

export interface Tool extends Marked {
  /** `foreign`: a server tool or another kind only `format` knows; `value` is its declaration, whole. */
  kind: "function" | "custom" | "foreign";
  name: string;
  description?: string;
  /** JSON schema of the arguments (kind `function`). */
  parameters?: JsonObject;
  strict?: boolean;
  /** Members without a canonical place, or the whole declaration of a foreign tool, under its format. */
  format?: string;
  value?: JsonObject;
}

export type ToolChoice =
  | { type: "auto" }
  | { type: "none" }
  | { type: "required" }
  | { type: "tool"; name: string }
  /** Only these tools may be called (chat-completions `allowed_tools`). */
  | { type: "allowed"; names: string[]; required: boolean };

/** How much the model should think before it answers. */
export interface ReasoningOptions {
  /** `off`: do not think; `adaptive`: the model decides; `budget`: at most `budget` tokens; `between-tools`. */
  mode?: "off" | "adaptive" | "budget" | "between-tools";
  effort?: string;
  /** Tokens. */
  budget?: number;
  /** `omitted`: the client does not want to see the text. */
  display?: string;
}

export type AnswerFormat =
  | { type: "text" }
  | { type: "json" }
  | { type: "json-schema"; name?: string; description?: string; schema: JsonObject; strict?: boolean };
