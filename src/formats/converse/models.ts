/**
 * The support of Bedrock's models in this format. Sources, read 2026-11: the pages on models, prompt caching, structured
 * outputs and reasoning in the user guide of Bedrock, and answers of the service.
 */
import type { IdRule } from "../../core/ids.ts";
import { type ModelFacts as ClaudeFacts, modelFacts as claudeFacts } from "../shared/claude-models.ts";
import { memoized } from "../shared/memoized.ts";

export interface ModelFacts {
  /** Facts about a Claude model; absent for any other model. */
  claude?: ClaudeFacts;
  /**
   * How a request asks for reasoning: `claude`: `thinking` and an effort; `nova`: `reasoningConfig`; `effort`:
   * `reasoning_effort`; `config`: `reasoning_config`. `none`: the model does not reason. `unknown`: no member is known.
   */
  reasoning: "claude" | "nova" | "effort" | "config" | "none" | "unknown";
  /**
   * Which reasoning of earlier turns the model takes: `signed`: only with its signature; `text`: also without one; `sealed`:
   * only encrypted, because the model repeats plain reasoning in its answer.
   */
  replay: "signed" | "text" | "sealed";
  /** Takes `toolChoice` with `any` and `tool`. */
  forcedTools: boolean;
  /** Takes `status` in tool results. */
  resultStatus: boolean;
  /** Takes `outputConfig.textFormat` and strict tools. */
  schemas: boolean;
  /** Takes `document` blocks with text. */
  textDocuments: boolean;
  /** Lists that may contain cache points. */
  cachePoints: readonly CachePlace[];
  /** Takes the lifetime of an hour for cache points. */
  hourCache: boolean;
  /** Member of `additionalModelRequestFields` for `topK`; `nova`: `inferenceConfig.topK`. */
  topK?: "top_k" | "nova";
  /** Continues a last assistant message. */
  prefill: boolean;
  /** Maximum number of stop sequences. */
  maxStop: number;
  toolIds: IdRule;
  /** Its ids of calls have characters that other vendors refuse. */
  escapesIds: boolean;
}

export type CachePlace = "tools" | "system" | "content";

const TOOL_IDS: IdRule = { legal: /^[a-zA-Z0-9_-]{1,64}$/, length: 64 };
/** Kimi counts its calls in ids such as `functions.weather:0`, and takes them back. */
const KIMI_IDS: IdRule = { legal: /^[a-zA-Z0-9_.:-]{1,64}$/, length: 64 };
const MISTRAL_IDS: IdRule = { legal: /^[a-zA-Z0-9]{9}$/, length: 9, exact: true };

/** A model that weir does not know, for example behind the ARN of an application inference profile. */
const OTHER: ModelFacts = {
  reasoning: "unknown",
  replay: "text",
  forcedTools: false,
  resultStatus: false,
  schemas: false,
  textDocuments: false,
  cachePoints: [],
  hourCache: false,
  prefill: false,
  maxStop: 4,
  toolIds: TOOL_IDS,
  escapesIds: false,
};

const PLAIN: ModelFacts = { ...OTHER, reasoning: "none" };

const NOVA: ModelFacts = {
  ...PLAIN,
  forcedTools: true,
  resultStatus: true,
  textDocuments: true,
  cachePoints: ["system", "content"],
  topK: "nova",
  prefill: true,
};

const MISTRAL: ModelFacts = { ...PLAIN, toolIds: MISTRAL_IDS };

/** The first matching pattern counts. */
const TABLE: readonly [RegExp, ModelFacts][] = [
  [/nova-2/, { ...NOVA, reasoning: "nova" }],
  [/nova/, NOVA],
  [/openai|gpt-oss/, { ...OTHER, reasoning: "effort", replay: "sealed", schemas: true }],
  [/mistral-large-3|magistral|ministral|voxtral/, { ...MISTRAL, forcedTools: true, schemas: true }],
  [/mistral-large|pixtral-large/, { ...MISTRAL, forcedTools: true }],
  [/mistral|mixtral/, MISTRAL],
  [/qwen/, { ...OTHER, reasoning: "config", schemas: true }],
  [/kimi|moonshot/, { ...OTHER, schemas: true, toolIds: KIMI_IDS, escapesIds: true }],
  [/gemma/, { ...PLAIN, schemas: true }],
  [/minimax|nemotron|glm|deepseek\.v/, { ...OTHER, schemas: true }],
  [/llama|titan|command|jamba|palmyra/, PLAIN],
];

/** Claude 4.5 and 4.6: on Bedrock no later model compiles schemas. */
const FOUR_FIVE_OR_SIX = /(?:opus|sonnet|haiku)-4-[56](?!\d)/;

/** Returns the facts about a model. Its parameter is an id, the id of an inference profile, or an ARN. */
export const modelFacts = memoized((model): ModelFacts => {
  const name = model.toLowerCase();
  if (name.includes("claude")) return claude(name);
  return TABLE.find(([pattern]) => pattern.test(name))?.[1] ?? OTHER;
});

function claude(name: string): ModelFacts {
  const facts = claudeFacts(name);
  const schemas = facts.schemas && FOUR_FIVE_OR_SIX.test(name);
  return {
    claude: { ...facts, schemas },
    reasoning: "claude",
    replay: "signed",
    forcedTools: facts.forcedTools,
    resultStatus: true,
    schemas,
    textDocuments: true,
    cachePoints: ["tools", "system", "content"],
    hourCache: FOUR_FIVE_OR_SIX.test(name) || facts.maxTokens >= 128_000,
    topK: "top_k",
    prefill: facts.prefill,
    maxStop: 2500,
    toolIds: TOOL_IDS,
    escapesIds: false,
  };
}
