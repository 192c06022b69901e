/**
 * Fields that Google's models support and refuse. Collected 2026-11-21 from Google's model pages and from the catalogue of
 * the Vercel AI SDK.
 */
import { memoized } from "../shared/memoized.ts";

/** Values of `thinkingConfig.thinkingLevel`, lowest first. */
export const LEVELS = ["MINIMAL", "LOW", "MEDIUM", "HIGH"] as const;
export type Level = (typeof LEVELS)[number];

/** How a request tells the model how much to reason. */
export type Thinking =
  | { by: "none" }
  /** `thinkingBudget` in tokens; `canStop`: 0 switches reasoning off. */
  | { by: "budget"; min: number; max: number; canStop: boolean }
  | { by: "level"; levels: readonly Level[] };

export interface ModelFacts {
  thinking: Thinking;
  /** Refuses the first call of a set of parallel calls without a thought signature. */
  signsCalls: boolean;
  /** Takes media inside a function response. */
  mediaInResponses: boolean;
  /** Takes a schema of the answer, and Google's own tools, together with functions. */
  combines: boolean;
  /** Takes `systemInstruction`. */
  system: boolean;
  /** Takes `presencePenalty` and `frequencyPenalty`. */
  penalties: boolean;
  /** Output limit in tokens, reasoning included; absent if unknown. */
  maxOutput?: number;
}

const OLDER: ModelFacts = {
  thinking: { by: "none" },
  signsCalls: false,
  mediaInResponses: false,
  combines: false,
  system: true,
  penalties: true,
};

const TWO: ModelFacts = { ...OLDER, maxOutput: 8192 };

const TWO_FIVE: ModelFacts = {
  ...OLDER,
  thinking: { by: "budget", min: 1, max: 24_576, canStop: true },
  penalties: false,
  maxOutput: 65_536,
};

/** Unknown Gemini models are treated like these. */
const THREE: ModelFacts = {
  ...TWO_FIVE,
  thinking: { by: "level", levels: LEVELS },
  signsCalls: true,
  mediaInResponses: true,
  combines: true,
};

const THREE_PRO: ModelFacts = { ...THREE, thinking: { by: "level", levels: ["LOW", "MEDIUM", "HIGH"] } };

/** The first pattern that matches counts. */
const MODELS: readonly (readonly [RegExp, ModelFacts])[] = [
  [/^gemma-/, { ...OLDER, system: false }],
  [/^gemini-(?:1|2\.0)/, TWO],
  [/^gemini-2\.5-pro/, { ...TWO_FIVE, thinking: { by: "budget", min: 128, max: 32_768, canStop: false } }],
  [
    /^gemini-2\.5-flash-lite/,
    { ...TWO_FIVE, thinking: { by: "budget", min: 512, max: 24_576, canStop: true } },
  ],
  [/^gemini-2\.5-(?:flash-image|computer-use)/, { ...TWO_FIVE, thinking: { by: "none" } }],
  [/^gemini-2\.5/, TWO_FIVE],
  [/^gemini-3-pro/, { ...THREE, thinking: { by: "level", levels: ["LOW", "HIGH"] } }],
  [/^gemini-.*pro/, THREE_PRO],
  [/^gemini-/, THREE],
];

/** Facts about a model; a prefix such as `models/` does not matter. Models of other families get the least. */
export const modelFacts = memoized((model: string): ModelFacts => {
  const name = model.slice(model.lastIndexOf("/") + 1).toLowerCase();
  return MODELS.find(([pattern]) => pattern.test(name))?.[1] ?? OLDER;
});
