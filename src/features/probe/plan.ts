/** The most that a probe costs: calls, tokens, and dollars where the price is known. */
import { MOST_REPEATS, REASONING_LIMIT } from "./host.ts";
import { PROBES } from "./probes/index.ts";

/** More tokens than the prompt of any probe has: the largest are those with tools, and that with an image. */
const PROMPT_TOKENS = 600;

export interface Plan {
  /** Maximum number of calls, with those that are repeated after a 429. */
  calls: number;
  /** How many of them may generate an answer. */
  answers: number;
  /** Maximum numbers of tokens of all calls. The output limit of a call is 64 tokens, 512 if the model reasons. */
  inputTokens: number;
  outputTokens: number;
}

export function planOf(): Plan {
  const sum = (count: (probe: (typeof PROBES)[number]) => number) =>
    PROBES.reduce((total, probe) => total + count(probe), 0);
  const answers = sum(({ calls, answers: own = calls }) => own);
  return {
    calls: sum(({ calls }) => calls) + MOST_REPEATS,
    answers,
    inputTokens: answers * PROMPT_TOKENS,
    // Two choices are the answers of one call more.
    outputTokens: (answers + 1) * REASONING_LIMIT,
  };
}
