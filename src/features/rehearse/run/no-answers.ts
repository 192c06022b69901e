/** A store of answers in which nothing is: a rehearsal knows that a gateway stores answers, and has none of them. */
import type { AnswerStore } from "../../../core/answer-store.ts";

export const NO_ANSWERS: AnswerStore = {
  put: async () => "late",
  get: async () => undefined,
  chain: async () => undefined,
  items: async () => new Map(),
  inputItems: async () => undefined,
  amend: async () => "unknown",
  list: async () => [],
  delete: async () => false,
};
