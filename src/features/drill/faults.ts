/** The faults of a drill, as data: what the client meets, how long it lasts, and what a good client does. */
import type { ErrorFacts, ErrorKind } from "../../core/error.ts";

export interface Fault {
  /** The name for `--only`. */
  name: string;
  /** The fault that the client meets: one clause. */
  meets: string;
  lasts: Lasts;
  expects: Expectation;
  script: Script;
}

/**
 * How long a fault lasts. `always`: for all requests of the run. `once`: for the first request of each question; a repeated
 * question is answered. `first`: for the first request of the run. `seconds`: for all requests until so long after the first
 * one.
 */
export type Lasts = "always" | "once" | "first" | { seconds: number };

/**
 * The behaviour of a good client. `recover`: repeat after a pause and succeed. `recover-or-fail`: repeat, or fail with an error.
 * `fail`: fail with an error within the time limit. `fail-at-once`: the same without repeating the question. `succeed`: wait
 * for the answer.
 */
export type Expectation = "recover" | "recover-or-fail" | "fail" | "fail-at-once" | "succeed";

/** How a fault comes about. */
export type Script =
  /** Nothing listens on the port at first, so that the drill does not see the requests. */
  | { kind: "refuse" }
  /** weir answers with this error in the client's format. */
  | { kind: "error"; error: ErrorKind; message: string; facts: ErrorFacts }
  /** weir answers with other events than those of the whole answer. */
  | { kind: "answer"; answer: "overloaded" | "filtered" | "empty" | "broken-call" }
  /** The bytes of a whole answer of weir reach the client in another way. */
  | { kind: "wire"; wire: WireFault };

/**
 * `silent`: no byte of an answer. `page`: an HTML page with status 502 in its place. `late`: the answer begins after a delay.
 * `slow`: a delay after each event. `halved`: half of the events, and then silence (`stall`), a broken connection (`cut`) or
 * the regular end of the body (`end`). `garbled`: an event in the middle is cut, the others arrive. Delays in milliseconds.
 */
export type WireFault =
  | { kind: "silent" }
  | { kind: "page" }
  | { kind: "late"; delay: number }
  | { kind: "slow"; delay: number }
  | { kind: "halved"; then: "stall" | "cut" | "end" }
  | { kind: "garbled" };

/** Seconds that the rate limit tells the client to wait. */
const RETRY_AFTER = 2;

export const FAULTS: readonly Fault[] = [
  {
    name: "refused",
    meets: "nothing listens on the port: the connection is refused",
    lasts: { seconds: 8 },
    expects: "recover-or-fail",
    script: { kind: "refuse" },
  },
  {
    name: "rate-limited",
    meets: `429 with \`retry-after: ${RETRY_AFTER}\``,
    lasts: { seconds: RETRY_AFTER },
    expects: "recover",
    script: {
      kind: "error",
      error: "rate-limited",
      message: `The rate limit is reached; try again in ${RETRY_AFTER} seconds.`,
      facts: { code: "rate_limit_exceeded", retryAfter: RETRY_AFTER },
    },
  },
  {
    name: "rate-limited-bare",
    meets: "429 without `retry-after`",
    lasts: { seconds: 1 },
    expects: "recover",
    script: {
      kind: "error",
      error: "rate-limited",
      message: "The rate limit is reached; try again later.",
      facts: { code: "rate_limit_exceeded" },
    },
  },
  {
    name: "overloaded",
    meets: "503 or 529, as the client's format says that the provider is overloaded",
    lasts: { seconds: 1 },
    expects: "recover",
    script: {
      kind: "error",
      error: "overloaded",
      message: "The provider is overloaded; try again later.",
      facts: { code: "server_is_overloaded" },
    },
  },
  {
    name: "server-error",
    meets: "500",
    lasts: "always",
    expects: "fail",
    script: {
      kind: "error",
      error: "internal",
      message: "The provider failed with an internal error.",
      facts: {},
    },
  },
  {
    name: "page",
    meets: "502 with the HTML error page of a proxy",
    lasts: "once",
    expects: "recover",
    script: { kind: "wire", wire: { kind: "page" } },
  },
  {
    name: "stall",
    meets: "a connection on which no byte of an answer arrives",
    lasts: "once",
    expects: "recover-or-fail",
    script: { kind: "wire", wire: { kind: "silent" } },
  },
  {
    name: "stall-midway",
    meets: "half of the answer, then nothing more on an open connection",
    lasts: "once",
    expects: "recover-or-fail",
    script: { kind: "wire", wire: { kind: "halved", then: "stall" } },
  },
  {
    name: "overloaded-midway",
    meets: "half of the answer, then the error of an overload",
    lasts: "once",
    expects: "recover-or-fail",
    script: { kind: "answer", answer: "overloaded" },
  },
  {
    name: "cut",
    meets: "half of the answer, then a broken connection",
    lasts: "once",
    expects: "recover-or-fail",
    script: { kind: "wire", wire: { kind: "halved", then: "cut" } },
  },
  {
    name: "ended-early",
    meets: "half of the answer in a body that ends regularly, without a finish reason or last event",
    lasts: "once",
    expects: "recover-or-fail",
    script: { kind: "wire", wire: { kind: "halved", then: "end" } },
  },
  {
    name: "garbled",
    meets: "an answer with an event in the middle that is not JSON",
    lasts: "once",
    expects: "recover-or-fail",
    script: { kind: "wire", wire: { kind: "garbled" } },
  },
  {
    name: "slow-start",
    meets: "an answer that begins after 4 seconds",
    lasts: "always",
    expects: "succeed",
    script: { kind: "wire", wire: { kind: "late", delay: 4_000 } },
  },
  {
    name: "slow-stream",
    meets: "an answer with a pause of 200 ms after each event",
    lasts: "always",
    expects: "succeed",
    script: { kind: "wire", wire: { kind: "slow", delay: 200 } },
  },
  {
    name: "empty",
    meets: "a finished answer without content",
    lasts: "always",
    expects: "recover-or-fail",
    script: { kind: "answer", answer: "empty" },
  },
  {
    name: "broken-call",
    meets: "a tool call whose arguments are cut JSON",
    lasts: "first",
    expects: "recover-or-fail",
    script: { kind: "answer", answer: "broken-call" },
  },
  {
    name: "filtered",
    meets: "half of the answer, which a content filter then ends",
    lasts: "always",
    expects: "fail-at-once",
    script: { kind: "answer", answer: "filtered" },
  },
  {
    name: "too-long",
    meets: "400: the prompt exceeds the context window",
    lasts: "always",
    expects: "fail-at-once",
    script: {
      kind: "error",
      error: "invalid-request",
      message:
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens. Please reduce the length of the messages.",
      facts: { code: "context_length_exceeded" },
    },
  },
  {
    name: "unauthorized",
    meets: "401: the key is refused",
    lasts: "always",
    expects: "fail-at-once",
    script: {
      kind: "error",
      error: "authentication",
      message: "The key is not valid.",
      facts: { code: "invalid_api_key" },
    },
  },
  {
    name: "unknown-model",
    meets: "404: the provider does not have the model",
    lasts: "always",
    expects: "fail-at-once",
    script: {
      kind: "error",
      error: "not-found",
      message: "The model does not exist or you do not have access to it.",
      facts: { code: "model_not_found", param: "model" },
    },
  },
];

/** The behaviour of a good client, in words. */
export const EXPECTED: Readonly<Record<Expectation, string>> = {
  recover: "repeats after a pause and succeeds",
  "recover-or-fail": "repeats and succeeds, or fails with an error",
  fail: "fails with an error; if it repeats before, with pauses and an end",
  "fail-at-once": "fails with an error, without repeating",
  succeed: "waits and succeeds",
};

/** How long a fault lasts, in words. */
export function describeLasts(lasts: Lasts): string {
  if (lasts === "always") return "all requests";
  if (lasts === "once") return "the first request of a question";
  if (lasts === "first") return "the first request that offers tools";
  return `all requests of the first ${lasts.seconds} s`;
}

/** The seconds that a fault asks the client to wait; 0 if it asks for none. */
export function retryAfterOf({ script }: Fault): number {
  return script.kind === "error" ? (script.facts.retryAfter ?? 0) : 0;
}
