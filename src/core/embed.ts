/**
 * The canonical embeddings request and its answer: what every client dialect is decoded into and every provider's dialect is
 * encoded from.
 */
import type { JsonObject } from "./json.ts";
import type { LeftOut } from "./loss.ts";

/** A text, or its token ids for the model's own tokenizer. */
export type EmbedInput = string | readonly number[];

/** Texts to embed, in order. An absent option means the provider's default. */
export interface EmbedRequest {
  /** The model name as the client wrote it. */
  model: string;
  /** At least one. */
  inputs: readonly EmbedInput[];
  /** JSON path of an option or of an input in the client's request (`input[3]`), for losses and errors. */
  pathOf(part: "dimensions" | "inputType" | "user" | number): string;
  /** Length of the vectors. */
  dimensions?: number;
  /** The purpose of the vectors, in the client's word: `query`, `search_document`, `CLASSIFICATION`. */
  inputType?: string;
  /** How the client wants the vectors: as numbers, or as base64 of little-endian 32-bit floats. */
  encoding: "float" | "base64";
  /** The end user's id. */
  user?: string;
  /** Top-level members without a canonical equivalent. Only a provider of the client's own dialect gets them. */
  extra: JsonObject;
  /** Further members, which no provider gets. Those that cannot change the vectors are not among them. */
  leftOut?: readonly LeftOut[];
}

export interface EmbedAnswer {
  /** One vector for each input, in the order of the inputs, all of the same length. */
  vectors: readonly ArrayLike<number>[];
  /** Absent if the provider counts no tokens: weir estimates them. */
  usage?: EmbedUsage;
  /** The provider's own name of the model. */
  model?: string;
}

export interface EmbedUsage {
  /** Tokens of all inputs. */
  input: number;
  /** The price that the provider reports. Billionths of a US dollar. */
  reported?: number;
}

/** Where a provider embeds, and how its dialect differs from the usual one. A path alone stands for `{ path }`. */
export interface EmbedEndpoint {
  /** Path behind `baseUrl`, a template as those of `speaks`. */
  readonly path: string;
  /** Globs over the provider's names of the models that it serves here. Default: all. */
  readonly models?: readonly string[];
  /**
   * Most inputs of one request: weir splits longer lists and joins the answers. An object has them by globs over the
   * provider's names of the models; the first that matches counts. Default: that of the dialect.
   */
  readonly maxInputs?: number | Readonly<Record<string, number>>;
  /** Accepts token ids in place of texts. Default: that of the dialect. */
  readonly tokenIds?: boolean;
  /**
   * `true`: can answer with base64 of 32-bit floats. `"only"`: the same, and it refuses the word `float`. `"int8"`: always
   * answers with base64 of 8-bit integers. Default false: weir asks for numbers and converts them for the client.
   */
  readonly base64?: boolean | "only" | "int8";
  /** Names of members that the host calls otherwise than the dialect; `false` for one that it does not accept. */
  readonly members?: Readonly<Partial<Record<"dimensions" | "inputType" | "user", string | false>>>;
  /** The host's words for what vectors are for. Default: the client's word. */
  readonly inputTypes?: Readonly<Partial<Record<EmbedPurpose, string>>>;
}

/** Purposes of vectors. */
export type EmbedPurpose = "query" | "document" | "classification" | "clustering" | "similarity";
