/** The mock's models, with descriptions and behaviour. */
import { GatewayError, type ModelDoes, type Task } from "weir";
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
import { MAX_TOKENS } from "./tokens.ts";

export interface Behaviour {
  /** Kind of answer. Default `chat`. */
  recipe?: Recipe;
  /** Length of the answer in tokens, for the recipe `long`. */
  length?: number;
  /** Delay before the answer begins, in milliseconds. */
  startAfter?: number;
  /** Delay before each token, in milliseconds. */
  pace?: number;
  /** Thrown before the first event. */
  fail?: Error;
  /** Sends nothing until the call is aborted. */
  silent?: boolean;
  /** Stops the answer after this number of tokens, or half of them: throws the error, or stalls without one. */
  breakOff?: { after: number | "half"; error?: Error };
}

export interface MockModel {
  /** The name after `mock/`; `<…>` is an integer parameter. */
  name: string;
  description: string;
  /** Name for the list of models if `name` has a parameter. */
  example?: string;
  /** What it does; `all`: every request gets its behaviour. Default: it generates text. */
  does?: Task | "all";
  /** Whether the parameter is allowed. Default: 0 to 600,000. */
  allows?(parameter: number): boolean;
  behave(parameter: number): Behaviour;
}

const MAX_PARAMETER = 600_000;

export const mockModels: readonly MockModel[] = [
  {
    name: "chat",
    description: "Answers in a few sentences, calls tools that are named or forced, reasons on request.",
    behave: () => ({}),
  },
  {
    name: "echo",
    description: "Answers with exactly the last user text.",
    behave: () => ({ recipe: "echo" }),
  },
  {
    name: "recall",
    description:
      "Answers with the whole conversation that it was sent, so that you see what earlier turns arrived.",
    behave: () => ({ recipe: "recall" }),
  },
  {
    name: "reason",
    description: "Reasons before it answers, and signs its reasoning.",
    behave: () => ({ recipe: "reason" }),
  },
  {
    name: "tools",
    description: "Calls every tool of the request, then answers with their results.",
    behave: () => ({ recipe: "tools" }),
  },
  {
    name: "long-<tokens>",
    example: "long-1000",
    description: `Answers with a text of this number of tokens, at most ${MAX_TOKENS}.`,
    allows: (tokens) => tokens <= MAX_TOKENS,
    behave: (length) => ({ recipe: "long", length }),
  },
  {
    name: "empty",
    description: "Gives an empty answer.",
    behave: () => ({ recipe: "empty" }),
  },
  { name: "slow", description: "Sends one token every 100 ms.", behave: () => ({ pace: 100 }) },
  {
    name: "pace-<ms>",
    example: "pace-20",
    description: "Sends one token every `<ms>` milliseconds.",
    behave: (pace) => ({ pace }),
  },
  {
    name: "slow-start-<ms>",
    example: "slow-start-2000",
    description: "Waits `<ms>` milliseconds before the answer begins.",
    does: "all",
    behave: (startAfter) => ({ startAfter }),
  },
  {
    name: "embed",
    description:
      "Embeds texts (`POST /v1/embeddings`): similar texts get similar vectors, of 256 numbers by default.",
    does: "embedding",
    behave: () => ({}),
  },
  {
    name: "rerank",
    description: "Ranks documents (`POST /v1/rerank`, `/v2/rerank`, `/v1/score`) by the words of the query.",
    does: "rerank",
    behave: () => ({}),
  },
  {
    name: "moderation",
    description:
      "Judges texts (`POST /v1/moderations`) by words: a text with `violence` is violent, and so on.",
    does: "moderation",
    behave: () => ({}),
  },
  {
    name: "decision",
    description: "Decides questions (`POST /v1/decisions`) by the words of the input.",
    does: "decision",
    behave: () => ({}),
  },
  {
    name: "realtime",
    description:
      "Talks over a WebSocket (`/v1/realtime`): repeats what was said last, as text or as a tone. Audio that is not silent is speech.",
    does: "realtime",
    behave: () => ({}),
  },
  {
    name: "image",
    description: "Makes small images (`POST /v1/images/generations`, `/v1/images/edits`) of one colour.",
    does: "image",
    behave: () => ({}),
  },
  {
    name: "speech",
    description: "Reads texts (`POST /v1/audio/speech`) as a tone, or as silence in mp3.",
    does: "speech",
    behave: () => ({}),
  },
  {
    name: "transcription",
    description: "Writes down audio (`POST /v1/audio/transcriptions`) as words that follow from the file.",
    does: "transcription",
    behave: () => ({}),
  },
  {
    name: "error-<status>",
    example: "error-429",
    description: `Fails like a provider that answers with this status: ${FAULT_STATUSES.join(", ")}.`,
    allows: (status) => FAULT_STATUSES.includes(status),
    does: "all",
    behave: (status) => ({ fail: failWithStatus(status) }),
  },
  {
    name: "html-<status>",
    example: "html-500",
    description: "Fails like a proxy that answers with an HTML page: 500, 502, 503, 504 or 529.",
    allows: (status) => status >= 500 && FAULT_STATUSES.includes(status),
    does: "all",
    behave: (status) => ({ fail: failWithPage(status) }),
  },
  {
    name: "rate-limited-<seconds>",
    example: "rate-limited-5",
    description: "Fails with 429 and this number of seconds in retry-after.",
    allows: (seconds) => seconds <= 3_600,
    does: "all",
    behave: (seconds) => ({ fail: failLimited(seconds) }),
  },
  {
    name: "context-length",
    description: "Fails because the prompt is too long, in the wording that clients recognise.",
    does: "all",
    behave: () => ({ fail: failTooLong() }),
  },
  {
    name: "content-filter",
    description: "A content filter stops the answer in the middle.",
    behave: () => ({ recipe: "filtered" }),
  },
  {
    name: "flaky-<percent>",
    example: "flaky-30",
    description: "Fails with 503 in this share of calls, spread evenly, and answers the others.",
    allows: (percent) => percent <= 100,
    does: "all",
    behave: (percent) => ({ fail: failSometimes(percent) }),
  },
  { name: "stall", description: "Never answers.", does: "all", behave: () => ({ silent: true }) },
  {
    name: "stall-after-<tokens>",
    example: "stall-after-3",
    description: "Stalls after this number of tokens.",
    behave: (after) => ({ breakOff: { after } }),
  },
  {
    name: "cut",
    description: "The stream ends in the middle of the answer.",
    behave: () => ({ breakOff: { after: "half", error: failCut() } }),
  },
  {
    name: "cut-after-<tokens>",
    example: "cut-after-3",
    description: "The stream ends after this number of tokens.",
    behave: (after) => ({ breakOff: { after, error: failCut() } }),
  },
  {
    name: "garbled-after-<tokens>",
    example: "garbled-after-3",
    description: "Sends an invalid stream event after this number of tokens.",
    behave: (after) => ({ breakOff: { after, error: failGarbled() } }),
  },
  {
    name: "overloaded-mid-stream",
    description: "Reports an overload in the middle of the answer.",
    behave: () => ({ breakOff: { after: "half", error: failOverloaded() } }),
  },
  {
    name: "throw",
    description: "Throws an unexpected error, whose text must not reach the client.",
    does: "all",
    behave: () => ({ fail: failPlainly() }),
  },
];

const GENERATING: readonly Task[] = ["chat", "completion", "cache"];

/** What the models do that do not have their behaviour everywhere; `mock` is the one behind the bare name. */
export const mockDoes: readonly ModelDoes[] = [{ name: "mock" } as const, ...mockModels].flatMap(
  ({ name, does }: Pick<MockModel, "name" | "does">) =>
    does === "all"
      ? []
      : { models: [name.replace(/<[a-z]+>/, "*")], does: does === undefined ? GENERATING : [does] },
);

const patterns = mockModels.map((model) => ({
  model,
  expression: new RegExp(`^${model.name.replace(/<[a-z]+>/, "(\\d{1,6})")}$`),
}));

/**
 * Returns the behaviour of a model.
 * @throws GatewayError `not-found` (`model_not_found`), with the list of names
 */
export function findBehaviour(name: string): Behaviour {
  for (const { model, expression } of patterns) {
    const match = expression.exec(name);
    if (!match) continue;
    const parameter = Number(match[1] ?? 0);
    if (parameter <= MAX_PARAMETER && (model.allows?.(parameter) ?? true)) return model.behave(parameter);
  }
  const names = mockModels.map((model) => model.name).join(", ");
  throw new GatewayError("not-found", `The mock has no model \`${name.slice(0, 100)}\`. It has: ${names}.`, {
    code: "model_not_found",
    param: "model",
  });
}
