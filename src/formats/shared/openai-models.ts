/**
 * Fields that single models support in the formats of OpenAI, as far as their vendors refuse a request over them. weir sends
 * a model that is not listed here what the client asked for.
 *
 * Sources, read 2026-11: the comments of `openai` 7.55 (stop, effort), and what the API answered to others:
 * openai/openai-openapi#541 and BerriAI/litellm#34569 (tools and effort from gpt-5.4 on), bolna-ai/bolna#1019 and
 * BerriAI/litellm-docs#1173 (gpt-6-astra), mnfst/modelparams.dev#236 (gpt-5.6 levels), anomalyco/opencode#4451 (gpt-5.1),
 * CherryHQ/cherry-studio#11920 (pro), vercel/ai#10932 (sampling with effort none), platform model pages (output limits).
 */

import { memoized } from "./memoized.ts";

export interface ModelFacts {
  /** Values of `reasoning_effort`, lowest first; empty if the model refuses the field. */
  efforts: readonly string[];
  /** The effort of a request without the field. */
  defaultEffort?: string;
  /** Whether the model takes `temperature`, `top_p`, penalties and `logprobs`: `without-effort` means only with effort `none`. */
  sampling: "always" | "never" | "without-effort";
  /** Takes `stop`. */
  stop: boolean;
  /** Takes `max_completion_tokens` and refuses `max_tokens`. */
  completionTokens: boolean;
  /** Takes function tools only with effort `none` on `/v1/chat/completions`. */
  toolsWithoutEffort?: boolean;
  /** Takes `parallel_tool_calls`. */
  parallelToolCalls?: boolean;
  /** Takes tools of type `custom`. */
  customTools?: boolean;
  /** Takes `prompt_cache_breakpoint` on parts. */
  cacheBreakpoints?: boolean;
  /** Its vendor serves it in the tiers flex and priority: a model of OpenAI's. */
  tiers?: boolean;
  /** Output limit in tokens. */
  maxOutput?: number;
}

/** @param maxOutput absent for the models of other vendors */
const plain = (maxOutput?: number): ModelFacts => ({
  efforts: [],
  sampling: "always",
  stop: true,
  completionTokens: false,
  tiers: maxOutput !== undefined,
  maxOutput,
});

const reasoning = (efforts: string, facts: Partial<ModelFacts> = {}): ModelFacts => ({
  efforts: efforts.split(" "),
  sampling: "never",
  stop: false,
  completionTokens: true,
  customTools: true,
  tiers: true,
  maxOutput: 128_000,
  ...facts,
});

const oSeries = (facts: Partial<ModelFacts> = {}): ModelFacts =>
  reasoning("low medium high", {
    customTools: false,
    parallelToolCalls: false,
    maxOutput: 100_000,
    ...facts,
  });

/** The first matching pattern counts. */
const TABLE: readonly [RegExp, ModelFacts][] = [
  [/^o1-(?:mini|preview)/, { ...oSeries({ stop: true }), efforts: [] }],
  [/^o1|^o3-mini/, oSeries({ stop: true })],
  [/^o3|^o4/, oSeries()],
  [/^gpt-5[\d.]*-chat/, { ...plain(16_384), completionTokens: true }],
  [/^gpt-5-pro/, reasoning("high")],
  [/^gpt-5\.[0-9]+-pro/, reasoning("medium high xhigh")],
  [/^gpt-5(?:\.1)?-codex(?!-max)/, reasoning("low medium high")],
  [/^gpt-5[\d.]*-codex/, reasoning("low medium high xhigh")],
  [/^gpt-5\.1/, reasoning("none low medium high", { defaultEffort: "none", sampling: "without-effort" })],
  [
    /^gpt-5\.[23]/,
    reasoning("none low medium high xhigh", { defaultEffort: "none", sampling: "without-effort" }),
  ],
  [
    /^gpt-5\.[45]/,
    reasoning("none low medium high xhigh", {
      defaultEffort: "none",
      sampling: "without-effort",
      toolsWithoutEffort: true,
    }),
  ],
  [
    /^gpt-5\.[6-9]/,
    reasoning("none low medium high xhigh", { toolsWithoutEffort: true, cacheBreakpoints: true }),
  ],
  [/^gpt-5(?:-|$)/, reasoning("minimal low medium high")],
  [/^gpt-6[\d.]*-astra/, reasoning("low medium high xhigh", { cacheBreakpoints: true })],
  [/^gpt-6/, reasoning("none low medium high xhigh", { toolsWithoutEffort: true, cacheBreakpoints: true })],
  [/^gpt-4\.1/, plain(32_768)],
  [/^(?:chat)?gpt-4o/, plain(16_384)],
  [/^gpt-4-turbo|^gpt-4-\d{4}-preview|^gpt-3\.5/, plain(4096)],
  [/^gpt-4/, plain(8192)],
  // Families of open-weight models that do not reason: hosts refuse an effort for them.
  [
    /(?:^|\/)(?:meta-)?(?:llama|codellama|gemma|mixtral|mistral|ministral|codestral|devstral|pixtral)/,
    plain(),
  ],
];

/** Returns the facts about a model. Its parameter is the provider's name of the model. */
export const modelFacts = memoized((model): ModelFacts | undefined => {
  const name = model.toLowerCase();
  return TABLE.find(([pattern]) => pattern.test(name))?.[1];
});

/** Whether a model takes sampling fields together with this effort. */
export function takesSampling(facts: ModelFacts | undefined, effort: string | undefined): boolean {
  if (!facts || facts.sampling === "always") return true;
  return facts.sampling === "without-effort" && (effort ?? facts.defaultEffort) === "none";
}

/** All efforts, lowest first. */
const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/** Efforts that weir expects of a model that is not in the table. */
export const COMMON_EFFORTS: readonly string[] = ["low", "medium", "high"];

/** Returns the next lower effort that the model supports, or its lowest one. Unknown words are passed on. */
export function nearestEffort(requested: string, levels: readonly string[]): string {
  const rank = EFFORTS.indexOf(requested);
  if (rank < 0 || levels.includes(requested)) return requested;
  const lower = levels.filter((level) => EFFORTS.indexOf(level) < rank && level !== "none");
  return lower.at(-1) ?? levels.find((level) => level !== "none") ?? levels[0] ?? requested;
}
