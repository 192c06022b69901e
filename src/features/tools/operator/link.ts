/** What a worker tells the keeper for operators, and how it answers their questions. */
import type { Channel } from "../../../core/channel.ts";
import type { Question, ToolsDown, ToolsUp } from "../messages.ts";
import type { ServerConfig, ToolsConfig } from "../section.ts";
import type { OperatorAnswer, OperatorAsk, ServerReport, ServerSummary } from "./facts.ts";

/** The keeper's side of the channel is that of the feature: its owner hands on what the channel says. */
export class OperatorLink {
  readonly #keeper: Pick<Channel<ToolsUp, ToolsDown>, "isUp" | "send">;
  readonly #answer: (ask: OperatorAsk) => Promise<OperatorAnswer>;
  #told: Extract<ToolsUp, { servers: unknown }> | undefined;
  /** How each server was when it changed last. */
  readonly #reports = new Map<string, ServerReport>();

  /** @param answer answers an operator */
  constructor(
    keeper: Pick<Channel<ToolsUp, ToolsDown>, "isUp" | "send">,
    answer: (ask: OperatorAsk) => Promise<OperatorAnswer>,
  ) {
    this.#keeper = keeper;
    this.#answer = answer;
  }

  /** A config begins to serve. */
  serves(section: ToolsConfig): void {
    const servers = Object.entries(section.servers).map(([name, server]) => summaryOf(name, server, section));
    this.#told = { servers, ...(section.pins !== undefined && { pinFile: section.pins }) };
    for (const name of this.#reports.keys())
      if (!Object.hasOwn(section.servers, name)) this.#reports.delete(name);
    this.#send(this.#told);
  }

  /** weir talked to a server, or could not. */
  report(report: ServerReport): void {
    this.#reports.set(report.server, report);
    this.#send({ report });
  }

  /** A keeper has begun. */
  up(): void {
    if (this.#told) this.#send(this.#told);
    for (const report of this.#reports.values()) this.#send({ report });
  }

  async message({ number, ask }: Question): Promise<void> {
    const answer = await this.#answer(ask).catch((cause: unknown): OperatorAnswer => ({
      fault: (cause as Error).message,
    }));
    this.#send({ number, answer });
  }

  #send(message: ToolsUp): void {
    if (this.#keeper.isUp) this.#keeper.send(message);
  }
}

function summaryOf(name: string, server: ServerConfig, { pin, prices }: ToolsConfig): ServerSummary {
  const { url, command = [], allow, only, isolation } = server;
  return {
    ...{ name, allow, only, isolation },
    transport: url === undefined ? "program" : "http",
    at: url === undefined ? (command[0] ?? "") : withoutQuery(url),
    ...(pin && { pin }),
    ...(prices && { prices }),
  };
}

/** Some servers want a credential in the query. */
function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
