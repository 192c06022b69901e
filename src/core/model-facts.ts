/** What weir knows about a model beyond its name, for lists of models. An absent member means unknown, never "no". */

/** A kind of content that a model takes or gives. */
export type Modality = "text" | "image" | "audio" | "video" | "file" | "embedding";

/** What a model can do. */
export interface Abilities {
  tools?: boolean;
  parallelTools?: boolean;
  forcedTools?: boolean;
  /** Answers that follow a JSON schema. */
  jsonSchema?: boolean;
  /** Answers that are some JSON object. */
  jsonObject?: boolean;
  reasoning?: boolean;
  promptCaching?: boolean;
  webSearch?: boolean;
}

export interface ModelFacts {
  /** Most tokens of request and answer together. */
  contextWindow?: number;
  /** Most tokens of an answer. */
  maxOutput?: number;
  input?: readonly Modality[];
  output?: readonly Modality[];
  abilities?: Abilities;
  /** Dollars a token. */
  prices?: Readonly<{
    input: number;
    output: number;
    cacheRead?: number;
    cacheWrite?: number;
    request?: number;
  }>;
  /** Day of the release. Unix seconds. */
  created?: number;
  /** Day on which the provider turns the model off: `2026-12-31`. */
  deprecatedOn?: string;
}
