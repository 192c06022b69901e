/**
 * Answers what the keeper asks a worker for the console: how it routes, its providers, its config. The code is loaded by the
 * first question, because most gateways are never asked.
 */
import type { GatewayKeys } from "../keys.ts";
import type { Inspected } from "./inspected.ts";
import type { BooksDown, Question } from "../../ledger/messages.ts";
import type { StateReporter } from "../worker-state.ts";

export interface WorkerAnswersOptions {
  keys: GatewayKeys;
  state: StateReporter;
  /** The parts that serve at the moment. */
  inspected(): Inspected;
  reply(number: number, answer: { value: unknown } | { error: string }): void;
}

export class WorkerAnswers {
  readonly #options: WorkerAnswersOptions;

  constructor(options: WorkerAnswersOptions) {
    this.#options = options;
  }

  /** Messages about other things are ignored. */
  receive(message: BooksDown): void {
    if (message.kind === "watch") this.#options.state.watch(message.ms);
    else if (message.kind === "question") void this.#answer(message.number, message.question);
  }

  async #answer(number: number, question: Question): Promise<void> {
    const { keys, inspected, reply } = this.#options;
    try {
      if (question.what === "lend") {
        const value = keys.keyring.lend(question.key, question.sha256, question.until);
        return reply(number, { value });
      }
      if (question.what === "settled") return reply(number, { value: null });
      const { inspect } = await import("./inspect.ts");
      reply(number, { value: await inspect(question, inspected()) });
    } catch (cause) {
      reply(number, { error: cause instanceof Error ? cause.message : String(cause) });
    }
  }
}
