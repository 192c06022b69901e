/** The mock's models: every name, what it does, and how it is played. */
import { GatewayError } from "weir";
import type { Recipe } from "./answer.ts";
import {
  FAULT_STATUSES,
  failCut,
  failGarbled,
  failLimited,
  failOverloaded,
  failPlainly,
  failSometimes,
  failTooLong,
  failWithPage,
  failWithStatus,
} from "./faults.ts";
import { MOST_TOKENS } from "./tokens.ts";

/** How a model answers and how it fails. */
export interface Behaviour {
  /** What is answered. Default `chat`. */
  recipe?: Recipe;
  /** Length of the answer in tokens (recipe `long`). */
  length?: number;
  /** Milliseconds before the answer begins. */
  startAfter?: number;
  /** Milliseconds before each token. */
  pace?: number;
  /** Thrown before anything is answered. */
  fail?: Error;
  /** Says nothing at all until the call is aborted. */
  silent?: boolean;
  /** Where the answer breaks off, in tokens or in its middle, and with what; without an error it falls silent. */
  breakOff?: { after: number | "half"; error?: Error };
}

export interface MockModel {
  /** The name behind `mock/`; `<…>` stands for a whole number. */
  name: string;
  description: string;
  /** A name of this kind for the list of models, where `name` has a placeholder. */
  example?: string;
  /** What the number may be. Default: 0 to 600,000. */
  allows?(parameter: number): boolean;
  behave(parameter: number): Behaviour;
}

const LARGEST = 600_000;

export const mockModels: readonly MockModel[] = [
  {
    name: "chat",
    description: "Answers in a few sentences, calls tools that are named or forced, reasons when asked to.",
    behave: () => ({}),
  },
  {
    name: "echo",
    description: "Answers with exactly the last user text.",
    behave: () => ({ recipe: "echo" }),
  },
  {
    name: "reason",
    description: "Reasons before it answers, and signs its reasoning.",
    behave: () => ({ recipe: "reason" }),
  },
  {
    name: "tools",
    description: "Calls every tool it is offered, then answers with what they returned.",
    behave: () => ({ recipe: "tools" }),
  },
  {
    name: "long-<tokens>",
    example: "long-1000",
    description: `Answers with a text of that many tokens, at most ${MOST_TOKENS}.`,
    allows: (tokens) => tokens <= MOST_TOKENS,
    behave: (length) => ({ recipe: "long", length }),
  },
  {
    name: "empty",
    description: "Answers with nothing: the answer starts and ends.",
    behave: () => ({ recipe: "empty" }),
  },
  { name: "slow", description: "One token each 100 ms.", behave: () => ({ pace: 100 }) },
  {
    name: "pace-<ms>",
    example: "pace-20",
    description: "One token each so many milliseconds.",
    behave: (pace) => ({ pace }),
  },
  {
    name: "slow-start-<ms>",
    example: "slow-start-2000",
    description: "Waits so many milliseconds before it begins.",
    behave: (startAfter) => ({ startAfter }),
  },
  {
    name: "error-<status>",
    example: "error-429",
    description: `Fails as a provider that answers with this status: ${FAULT_STATUSES.join(", ")}.`,
    allows: (status) => FAULT_STATUSES.includes(status),
    behave: (status) => ({ fail: failWithStatus(status) }),
  },
  {
    name: "html-<status>",
    example: "html-500",
    description: "Fails as a proxy in front of a provider does: 500, 502, 503, 504 or 529 with a page.",
    allows: (status) => status >= 500 && FAULT_STATUSES.includes(status),
    behave: (status) => ({ fail: failWithPage(status) }),
  },
  {
    name: "rate-limited-<seconds>",
    example: "rate-limited-5",
    description: "Fails with 429 and asks to come back after so many seconds.",
    allows: (seconds) => seconds <= 3_600,
    behave: (seconds) => ({ fail: failLimited(seconds) }),
  },
  {
    name: "context-length",
    description: "Finds every conversation too long, in the words clients look for.",
    behave: () => ({ fail: failTooLong() }),
  },
  {
    name: "content-filter",
    description: "Stops in the middle because of a content filter.",
    behave: () => ({ recipe: "filtered" }),
  },
  {
    name: "flaky-<percent>",
    example: "flaky-30",
    description: "Fails with 503 in that share of calls, evenly spread and counted, and answers the others.",
    allows: (percent) => percent <= 100,
    behave: (percent) => ({ fail: failSometimes(percent) }),
  },
  { name: "stall", description: "Never answers.", behave: () => ({ silent: true }) },
  {
    name: "stall-after-<tokens>",
    example: "stall-after-3",
    description: "Falls silent after so many tokens and never ends.",
    behave: (after) => ({ breakOff: { after } }),
  },
  {
    name: "cut",
    description: "The answer breaks off in its middle.",
    behave: () => ({ breakOff: { after: "half", error: failCut() } }),
  },
  {
    name: "cut-after-<tokens>",
    example: "cut-after-3",
    description: "The answer breaks off after so many tokens.",
    behave: (after) => ({ breakOff: { after, error: failCut() } }),
  },
  {
    name: "garbled-after-<tokens>",
    example: "garbled-after-3",
    description: "Sends nonsense after so many tokens.",
    behave: (after) => ({ breakOff: { after, error: failGarbled() } }),
  },
  {
    name: "overloaded-mid-stream",
    description: "Reports that it is overloaded in the middle of its answer.",
    behave: () => ({ breakOff: { after: "half", error: failOverloaded() } }),
  },
  {
    name: "throw",
    description: "Throws an error no gateway knows; its text must not reach the client.",
    behave: () => ({ fail: failPlainly() }),
  },
];

const patterns = mockModels.map((model) => ({
  model,
  expression: new RegExp(`^${model.name.replace(/<[a-z]+>/, "(\\d{1,6})")}$`),
}));

/**
 * How the model of this name behaves.
 * @throws GatewayError `not-found` (`model_not_found`) that lists the names there are.
 */
export function findBehaviour(name: string): Behaviour {
  for (const { model, expression } of patterns) {
    const match = expression.exec(name);
    if (!match) continue;
    const parameter = Number(match[1] ?? 0);
    if (parameter <= LARGEST && (model.allows?.(parameter) ?? true)) return model.behave(parameter);
  }
  const names = mockModels.map((model) => model.name).join(", ");
  throw new GatewayError("not-found", `The mock has no model \`${name.slice(0, 100)}\`. It has: ${names}.`, {
    code: "model_not_found",
    param: "model",
  });
}
