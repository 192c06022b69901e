/** The answers of a drill, as events that weir encodes in the client's format. */
import type { ChatRequest } from "../../core/chat.ts";
import { GatewayError } from "../../core/error.ts";
import type { ChatEvent, FinishReason } from "../../core/events.ts";
import { ANSWER_PIECES } from "./answer-text.ts";

/** The parts of an answer. */
export interface AnswerFacts {
  id: string;
  model: string;
  request?: ChatRequest;
}

const HALF = ANSWER_PIECES.slice(0, ANSWER_PIECES.length / 2);

/** The whole answer. */
export function wholeAnswer(facts: AnswerFacts): ChatEvent[] {
  return [start(facts), ...text(ANSWER_PIECES), end({ kind: "stop" }, ANSWER_PIECES.length)];
}

/** The answers that are faults. */
export const FAULTY_ANSWERS: Readonly<
  Record<
    "overloaded" | "filtered" | "empty" | "broken-call",
    (facts: AnswerFacts) => Iterable<ChatEvent> | AsyncIterable<ChatEvent>
  >
> = {
  overloaded: overloadedMidway,
  filtered: (facts) => [start(facts), ...text(HALF), end({ kind: "content-filter" }, HALF.length)],
  empty: (facts) => [start(facts), end({ kind: "stop" }, 0)],
  "broken-call": (facts) => {
    const name = facts.request?.tools.find(({ kind }) => kind === "function")?.name ?? "unknown";
    return [
      start(facts),
      { type: "block-start", index: 0, block: { type: "tool-call", id: "call_1", name, kind: "function" } },
      { type: "block-delta", index: 0, delta: '{"path": "src/inde' },
      { type: "block-end", index: 0 },
      end({ kind: "tool-calls" }, 8),
    ];
  },
};

async function* overloadedMidway(facts: AnswerFacts): AsyncGenerator<ChatEvent> {
  yield start(facts);
  yield* text(HALF).slice(0, -1);
  // The half is on its way before the error, as from a real provider.
  await new Promise((resolve) => setTimeout(resolve, 20));
  throw new GatewayError("overloaded", "The provider became overloaded in the middle of its answer.", {
    code: "server_is_overloaded",
  });
}

function start({ id, model }: AnswerFacts): ChatEvent {
  return { type: "message-start", id: `drill_${id}`, model };
}

function text(pieces: readonly string[]): ChatEvent[] {
  return [
    { type: "block-start", index: 0, block: { type: "text" } },
    ...pieces.map((delta): ChatEvent => ({ type: "block-delta", index: 0, delta })),
    { type: "block-end", index: 0 },
  ];
}

function end(reason: FinishReason, output: number): ChatEvent {
  const usage = { input: 100, cacheRead: 0, cacheWrite: 0, output, reasoning: 0 };
  return { type: "message-end", reason, usage };
}
