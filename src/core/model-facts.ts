/** Facts about a model beyond its name, for lists of models. An absent member means unknown, never "no". */

/** A kind of content that a model takes or gives. */
export type Modality = "text" | "image" | "audio" | "video" | "file" | "embedding";

/** Capabilities of a model. */
export interface Abilities {
  tools?: boolean;
  parallelTools?: boolean;
  /** A request can force a call of some tool, or of a named one. */
  forcedTools?: boolean;
  /** Answers that follow a JSON schema. */
  jsonSchema?: boolean;
  /** Answers that are some JSON object. */
  jsonObject?: boolean;
  reasoning?: boolean;
  /** Temperature and the like. */
  sampling?: boolean;
  promptCaching?: boolean;
  webSearch?: boolean;
}

/** Dollars a token; `request` and `search`: dollars each. */
export interface ModelPrices {
  input: number;
  output: number;
  cacheRead?: number;
  cacheWrite?: number;
  reasoning?: number;
  /** A token of an image in the request. */
  image?: number;
  request?: number;
  search?: number;
  /** Dollars a unit that is no token, by its name: `{ search: 0.002 }` of a model that ranks. */
  units?: Readonly<Record<string, number>>;
}

export interface ModelFacts {
  /** The name for people: `Claude Opus 5.5`. */
  name?: string;
  /** Most tokens of a request; most hosts count the answer too. */
  contextWindow?: number;
  /** Most tokens of an answer. */
  maxOutput?: number;
  input?: readonly Modality[];
  output?: readonly Modality[];
  /** What the model does, if its output does not show it: `rerank`. */
  does?: readonly string[];
  abilities?: Readonly<Abilities>;
  /** Names of the request options that the model takes, if the host lists all of them. */
  options?: readonly string[];
  prices?: Readonly<ModelPrices>;
  /** Day of the release. Unix seconds. */
  created?: number;
  /** Day on which the provider turns the model off: `2026-12-31`. */
  deprecatedOn?: string;
}

/** Facts about models that weir knows without asking their hosts, by the provider and its own name of the model. */
export interface FactBook {
  /** Facts from the operator's config. */
  ofConfig(provider: string, model: string): ModelFacts | undefined;
  /** Facts from the files in the binary. */
  ofSnapshot(provider: string, model: string): ModelFacts | undefined;
}

const DAY_MS = 86_400_000;

/** The end of a model is a matter for the operator this long before its last day. Days. */
const NOTICE_DAYS = 30;

/** Whether a model's last day is past, or at most 30 days away. @param now milliseconds since 1970 */
export function endsSoon({ deprecatedOn }: Pick<ModelFacts, "deprecatedOn">, now: number): boolean {
  return deprecatedOn !== undefined && Date.parse(deprecatedOn) - now <= NOTICE_DAYS * DAY_MS;
}
