/** Models whose providers charge for reasoning of which the answers contain a summary at most: hard budgets hold its full maximum. */
import type { ModelTraits } from "weir";

const OPENAI = ["o1*", "o3*", "o4*", "codex-*", "gpt-5*", "gpt-6*"];
const GOOGLE = ["gemini-2.5-*", "gemini-3*"];
const XAI = ["grok-4*", "grok-3-mini*"];

const hiding = (models: readonly string[]): readonly ModelTraits[] => [
  { models, traits: { hidesReasoning: true } },
];

/** By the vendors' own names. */
export const HIDDEN = { openai: hiding(OPENAI), google: hiding(GOOGLE), xai: hiding(XAI) };

/** At hosts that put the vendor before the name. */
export const HIDDEN_RESOLD = hiding([
  ...OPENAI.map((name) => `openai/${name}`),
  ...GOOGLE.map((name) => `google/${name}`),
  ...XAI.flatMap((name) => [`x-ai/${name}`, `xai/${name}`]),
]);
