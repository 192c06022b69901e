/** What the keeper knows of servers by the workers, and how it asks them. */
import type { ToolsDown, ToolsUp } from "../messages.ts";
import type { OperatorAnswer, OperatorAsk, ServerReport, ServerSummary } from "./facts.ts";

/** How long a worker may take for an answer. Milliseconds. */
const ANSWER_MS = 10_000;
const MOST_REPORTS = 1_000;

interface Worker {
  send(message: ToolsDown): void;
}

export class OperatorPart {
  #servers: readonly ServerSummary[] | undefined;
  #pinFile: string | undefined;
  readonly #reports = new Map<string, ServerReport>();
  readonly #workers = new Set<Worker>();
  readonly #asked = new Map<number, { worker: Worker; settle(answer: OperatorAnswer): void }>();
  #number = 0;

  connect(worker: Worker): void {
    this.#workers.add(worker);
  }

  ended(worker: Worker): void {
    this.#workers.delete(worker);
    for (const [number, { worker: asked, settle }] of this.#asked) {
      if (asked !== worker) continue;
      this.#asked.delete(number);
      settle({ fault: "the worker has ended" });
    }
  }

  /** @returns whether the message was one about servers */
  receive(message: ToolsUp): boolean {
    if ("servers" in message) [this.#servers, this.#pinFile] = [message.servers, message.pinFile];
    else if ("report" in message) this.#note(message.report);
    else if ("answer" in message) {
      this.#asked.get(message.number)?.settle(message.answer);
      this.#asked.delete(message.number);
    } else return false;
    return true;
  }

  servers(): readonly ServerSummary[] | undefined {
    return this.#workers.size === 0 ? undefined : this.#servers;
  }

  /** Path of the file of pins, if the config names one. */
  get pinFile(): string | undefined {
    return this.#pinFile;
  }

  reportOf(server: string): ServerReport | undefined {
    return this.#reports.get(server);
  }

  ask(ask: OperatorAsk): Promise<OperatorAnswer> | undefined {
    const [worker] = this.#workers;
    if (!worker) return undefined;
    const number = ++this.#number;
    const { promise, resolve } = Promise.withResolvers<OperatorAnswer>();
    const timer = setTimeout(() => {
      this.#asked.delete(number);
      resolve({ fault: "no worker answered in time" });
    }, ANSWER_MS);
    this.#asked.set(number, {
      worker,
      settle(answer) {
        clearTimeout(timer);
        resolve(answer);
      },
    });
    worker.send({ number, ask });
    return promise;
  }

  #note(report: ServerReport): void {
    if (this.#reports.size >= MOST_REPORTS && !this.#reports.has(report.server)) this.#reports.clear();
    const known = this.#reports.get(report.server);
    if (!known || known.at <= report.at) this.#reports.set(report.server, report);
  }
}
