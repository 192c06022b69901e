/** Where a scenario plays: it has values of its own, a provider, and a client. */
import type { JsonObject } from "../../../../core/json.ts";
import type { UpstreamRequest, UpstreamResponse } from "../../../../gateway/lanes/transport.ts";
import type { ProofGateway } from "../gateway.ts";
import { Checks, formsOf } from "../judge.ts";
import { bodyOf, json, type Play } from "../provider.ts";
import { KINDS } from "../values.ts";

const EMAIL = KINDS.find(({ name }) => name === "email")!;
const TOKEN = /PII_[A-Z]+_[a-z2-7]{8,13}(?:_\d+)?/g;
/** Above the numbers of cells. */
const FIRST = 90_000_000;

/** What a scenario has: values of its own, a provider, and a client. */
export class Stage {
  readonly #gateway: ProofGateway;
  readonly #n: number;
  readonly #bodies: string[] = [];
  readonly checks: Checks;
  readonly mark: string;

  constructor(gateway: ProofGateway, name: string, n: number) {
    this.#gateway = gateway;
    this.#n = FIRST + 10 * n;
    this.checks = new Checks(`scenario: ${name}`);
    this.mark = `CELL ${this.#n};`;
  }

  /** @param at less than 10 */
  value(at = 0): string {
    return EMAIL.make(this.#n + at);
  }

  get values(): string[] {
    return Array.from({ length: 10 }, (_, at) => this.value(at));
  }

  /** The provider plays for what the work sends. */
  async with(play: Play, work: () => Promise<void>): Promise<void> {
    const kept = (request: UpstreamRequest): UpstreamResponse => {
      if (!request.url.includes(".invalid/")) throw new Error("it is not there");
      this.#bodies.push(bodyOf(request));
      return play(request);
    };
    await this.#gateway.play(this.mark, kept, work);
  }

  ask(
    path: string,
    body?: JsonObject,
    headers?: Record<string, string>,
  ): Promise<Response & { said: string }> {
    return this.#gateway.ask(path, body && JSON.stringify(body), headers);
  }

  /** Requests that the provider got so far. */
  get bodies(): readonly string[] {
    return this.#bodies;
  }

  /** The provider got requests, and none of the values in them. */
  judgeProvider(count: number): void {
    this.checks.that("the provider is asked", this.bodies.length === count, String(this.bodies.length));
    const sent = this.bodies.join("\n");
    for (const value of this.values)
      for (const form of formsOf(value))
        this.checks.that("the provider gets no value", !sent.includes(form), sent);
  }
}

export interface Scenario {
  readonly name: string;
  run(stage: Stage): Promise<void>;
}

/** The tokens in a text. */
export const tokensIn = (text: string) => text.match(TOKEN) ?? [];
/** A turn of a user. */
export const user = (content: string) => ({ role: "user", content });
/** A model whose e-mail addresses are replaced. */
export const REPLACED = "p-chat-completions/email-replace";
export const CHAT = "/v1/chat/completions";

export function messagesAnswer(...content: JsonObject[]): UpstreamResponse {
  return json({
    ...{ type: "message", id: "a", role: "assistant", model: "m", content },
    ...{ stop_reason: "end_turn", usage: { input_tokens: 1, output_tokens: 1 } },
  });
}

export function chatAnswer(content: string): UpstreamResponse {
  const choice = { index: 0, message: { role: "assistant", content }, finish_reason: "stop" };
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  return json({ id: "a", object: "chat.completion", created: 1, model: "m", choices: [choice], usage });
}
