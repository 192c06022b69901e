/**
 * Fields that Claude models support and refuse. Collected 2026-11-20 from Anthropic's model pages and model list and from
 * the catalogue of the Vercel AI SDK; where they disagree, the stricter rule is used.
 */

import { memoized } from "./memoized.ts";

/** Values of `thinking.type`. */
export type ThinkingType = "adaptive" | "enabled" | "disabled" | "between_tools";

export interface ModelFacts {
  /** A Claude model: Anthropic signs its reasoning, and it takes Anthropic's own fields. */
  claude: boolean;
  thinking: readonly ThinkingType[];
  /** Reasons unless the request switches it off. */
  thinksByDefault: boolean;
  /** Returns the text of its reasoning by default; newer models only on request. */
  showsReasoning: boolean;
  /** Takes `temperature`, `top_p` and `top_k` (not while it reasons). */
  sampling: boolean;
  /** Takes `tool_choice` `any` and `tool` (never with a thinking budget). */
  forcedTools: boolean;
  /** Continues a last assistant message. */
  prefill: boolean;
  /** Levels of `output_config.effort`, lowest first. */
  efforts: readonly string[];
  /** Signed reasoning is valid only for this model and after the same conversation. */
  bindsReasoning: boolean;
  /** Takes `role: "system"` in the conversation. */
  systemTurns: boolean;
  /** Takes `output_config.format` and strict tools. */
  schemas: boolean;
  /** Output limit in tokens, and the default if the client sets no limit. */
  maxTokens: number;
}

const ALL_EFFORTS = ["low", "medium", "high", "xhigh", "max"] as const;

/** The newest models: always reason, take no sampling fields. Unknown Claude models are treated like these. */
const CURRENT: ModelFacts = {
  claude: true,
  thinking: ["adaptive"],
  thinksByDefault: true,
  showsReasoning: false,
  sampling: false,
  forcedTools: false,
  prefill: false,
  efforts: ALL_EFFORTS,
  bindsReasoning: true,
  systemTurns: true,
  schemas: true,
  maxTokens: 128_000,
};

/** Fable 5, Mythos 5: as `CURRENT`, but reasoning is not bound and tools can be forced. */
const FIVE: ModelFacts = { ...CURRENT, forcedTools: true, bindsReasoning: false };

const FOUR_SEVEN: ModelFacts = {
  ...FIVE,
  thinking: ["adaptive", "disabled"],
  thinksByDefault: false,
  systemTurns: false,
};

const FOUR_SIX: ModelFacts = {
  ...FOUR_SEVEN,
  thinking: ["adaptive", "enabled", "disabled"],
  showsReasoning: true,
  sampling: true,
  efforts: ["low", "medium", "high", "max"],
};

const FOUR_FIVE: ModelFacts = {
  ...FOUR_SIX,
  thinking: ["enabled", "disabled"],
  prefill: true,
  efforts: [],
  maxTokens: 64_000,
};

const FOUR: ModelFacts = { ...FOUR_FIVE, schemas: false };

/** Models without reasoning. */
const THREE: ModelFacts = { ...FOUR, thinking: [], maxTokens: 4096 };

/** Facts by the key that `modelKey` returns. */
const MODELS: ReadonlyMap<string, ModelFacts> = new Map(
  Object.entries<ModelFacts>({
    "opus-5-5": CURRENT,
    "sonnet-5-5": { ...CURRENT, thinking: ["adaptive", "between_tools"] },
    "haiku-5-5": { ...CURRENT, thinking: ["adaptive", "disabled"], forcedTools: true },
    "fable-5-2": CURRENT,
    "fable-5-1": CURRENT,
    "mythos-5-2": CURRENT,
    "mythos-5-1": CURRENT,
    "fable-5": FIVE,
    "mythos-5": FIVE,
    "opus-5": { ...FIVE, thinking: ["adaptive", "disabled"] },
    "sonnet-5": { ...FIVE, thinking: ["adaptive", "disabled"], systemTurns: false },
    "opus-4-8": { ...FOUR_SEVEN, systemTurns: true },
    "opus-4-7": FOUR_SEVEN,
    "opus-4-6": FOUR_SIX,
    "sonnet-4-6": FOUR_SIX,
    "opus-4-5": { ...FOUR_FIVE, efforts: ["low", "medium", "high"] },
    "sonnet-4-5": FOUR_FIVE,
    "haiku-4-5": FOUR_FIVE,
    "opus-4-1": { ...FOUR_FIVE, maxTokens: 32_000 },
    "opus-4": { ...FOUR, maxTokens: 32_000 },
    "sonnet-4": FOUR,
    "sonnet-3-7": FOUR,
    "sonnet-3-5": { ...THREE, maxTokens: 8192 },
    "haiku-3-5": { ...THREE, maxTokens: 8192 },
    "opus-3": THREE,
    "sonnet-3": THREE,
    "haiku-3": THREE,
    "2": { ...THREE, forcedTools: false },
  }),
);

/** A model of another vendor: weir knows of no field that it refuses and assumes no special feature. */
const FOREIGN: ModelFacts = {
  claude: false,
  thinking: ["enabled", "disabled"],
  thinksByDefault: false,
  showsReasoning: true,
  sampling: true,
  forcedTools: true,
  prefill: true,
  efforts: [],
  bindsReasoning: false,
  systemTurns: false,
  schemas: false,
  maxTokens: Number.POSITIVE_INFINITY,
};

/** Default limit for models without a known one. Modest, because Bedrock reserves quota by it. */
const DEFAULT_MAX_TOKENS = 8192;

/** Returns the facts about a model; an unknown `claude-*` name counts as `CURRENT`. */
export const modelFacts = memoized((model): ModelFacts => {
  const name = model.toLowerCase().replaceAll(".", "-");
  if (!name.includes("claude")) return FOREIGN;
  const key = modelKey(name);
  return (key !== undefined && MODELS.get(key)) || CURRENT;
});

/** Returns the output limit for a request without one, in tokens. */
export function defaultMaxTokens(facts: ModelFacts): number {
  return Number.isFinite(facts.maxTokens) ? facts.maxTokens : DEFAULT_MAX_TOKENS;
}

/** `claude-sonnet-4-5-20250929` → `sonnet-4-5`; `claude-3-5-haiku-latest` → `haiku-3-5`; `claude-v2`, `claude-instant` → `2`. */
function modelKey(name: string): string | undefined {
  const modern = /(opus|sonnet|haiku|fable|mythos)-(\d)(?!\d)(?:-(\d{1,2})(?!\d))?/.exec(name);
  if (modern) return [modern[1], modern[2], modern[3]].filter(Boolean).join("-");
  const older = /claude-(\d)(?:-(\d))?-(opus|sonnet|haiku)/.exec(name);
  if (older) return [older[3], older[1], older[2]].filter(Boolean).join("-");
  return /claude-(?:v?[12](?!\d)|instant)/.test(name) ? "2" : undefined;
}
