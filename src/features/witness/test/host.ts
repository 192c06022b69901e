/** A fake provider of chat-completions, whose nature a test changes, as providers change without saying so. */
import { isObject, type JsonObject, parseJson } from "../../../core/json.ts";
import type { Answer } from "../../../../test/helpers/answers.ts";
import { QUESTIONS } from "../questions.ts";

export interface Nature {
  /** The tokenizer makes one token more of code. */
  tokenizer?: true;
  /** Tokens that stand in front of each prompt. */
  hidden?: number;
  /** Share of the calls that another model answers. */
  otherShare?: number;
  /** The order of the last events of a stream is another one. */
  order?: true;
  /** Nano-dollars an input token. */
  price?: number;
  /** Milliseconds before an answer. */
  delayMs?: number;
  /** A member more in answers. */
  field?: string;
  header?: string;
  /** The shape of errors is another one. */
  error?: true;
  /** A model more in the list. */
  lists?: string;
}

interface Favourites {
  readonly answers: readonly string[];
  readonly usual: readonly number[];
  readonly other: readonly number[];
}

/** What each model answers how often: models have other favourites, and share some. */
export const FAVOURITES: Readonly<Record<string, Favourites>> = {
  number: {
    answers: ["42", "37", "73", "57", "7", "47", "27", "64", "88"],
    usual: [0.4, 0.25, 0.15, 0.1, 0.05, 0.03, 0.015, 0.004, 0.001],
    other: [0.2, 0, 0.1, 0, 0, 0.25, 0.15, 0.1, 0.2],
  },
  name: {
    answers: ["Elara", "Kael", "Lyra", "Arin", "Mira", "Jonas", "Theo"],
    usual: [0.55, 0.2, 0.15, 0.07, 0.028, 0.001, 0.001],
    other: [0.1, 0, 0, 0.2, 0.2, 0.3, 0.2],
  },
  die: {
    answers: ["1", "2", "3", "4", "5", "6"],
    usual: [0.02, 0.05, 0.23, 0.6, 0.08, 0.02],
    other: [0.02, 0.48, 0.3, 0.1, 0.05, 0.05],
  },
  colour: {
    answers: ["red", "green", "blue", "yellow"],
    usual: [0.15, 0.05, 0.75, 0.05],
    other: [0.6, 0.1, 0.25, 0.05],
  },
};

/** A stream of numbers from 0 to 1 that is the same for a seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function pick(shares: readonly number[], random: number): number {
  let left = random;
  for (const [index, share] of shares.entries()) if ((left -= share) < 0) return index;
  return shares.length - 1;
}

export interface HostReply {
  status: number;
  headers: Record<string, string>;
  /** A JSON body, or the events of a stream. */
  body: string | string[];
}

export class FakeHost {
  nature: Nature = {};
  readonly #random: () => number;

  constructor(seed = 1) {
    this.#random = seeded(seed);
  }

  /** As the handler of a fake upstream. */
  readonly answer = async (request: { method: string; path?: string; body: unknown }): Promise<Answer> => {
    if (this.nature.delayMs !== undefined) await Bun.sleep(this.nature.delayMs);
    const { status, headers, body } = this.reply(request.method, textOf(request.body));
    return { status, headers, body, ...(typeof body !== "string" && { framing: "chunked" }) };
  };

  reply(method: string, text: string): HostReply {
    if (method === "GET") return this.#json(200, this.#list());
    const body = parseJson(text);
    if (!isObject(body)) return this.#json(400, { error: "no JSON" });
    if (promptOf(body).includes("data:image")) return this.#json(400, this.#error());
    return body["stream"] === true ? this.#stream(body) : this.#json(200, this.#whole(body));
  }

  #list(): JsonObject {
    const { lists } = this.nature;
    return { object: "list", data: [{ id: "small" }, ...(lists ? [{ id: lists }] : [])] };
  }

  #error(): JsonObject {
    const message = "the image cannot be read";
    return this.nature.error
      ? { detail: [{ msg: message, loc: ["messages"] }] }
      : { error: { message, type: "invalid_request_error", param: "messages" } };
  }

  #whole(body: JsonObject): JsonObject {
    const prompt = promptOf(body);
    const usage = this.#usage(prompt, 2);
    const { field } = this.nature;
    return {
      ...{
        id: "chat-1",
        object: "chat.completion",
        created: 1,
        model: "small-2026-01",
        system_fingerprint: "fp_1",
      },
      choices: [
        { index: 0, message: { role: "assistant", content: this.#choice(prompt) }, finish_reason: "stop" },
      ],
      usage,
      ...(field !== undefined && { [field]: true }),
    };
  }

  #choice(prompt: string): string {
    const { group } = QUESTIONS.find((one) => prompt === one.prompt) ?? {};
    if (group === undefined) return "OK";
    const { answers, usual, other } = FAVOURITES[group]!;
    const isOther = this.#random() < (this.nature.otherShare ?? 0);
    return answers[pick(isOther ? other : usual, this.#random())]!;
  }

  #usage(prompt: string, output: number): JsonObject {
    const { hidden = 0, tokenizer, price } = this.nature;
    const input = Math.ceil(prompt.length / 4) + 7 + hidden + (tokenizer && prompt.includes("xs[i]") ? 1 : 0);
    const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
    return price === undefined ? usage : { ...usage, cost: (input * price + output * price * 4) / 1e9 };
  }

  #stream(body: JsonObject): HostReply {
    const head = { id: "chat-1", object: "chat.completion.chunk", created: 1, model: "small-2026-01" };
    const chunk = (delta: JsonObject, finish: string | null = null) => ({
      ...head,
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
    const numbers = Array.from({ length: 20 }, (_, at) => chunk({ content: `${at + 1} ` }));
    const usage = { ...head, choices: [], usage: this.#usage(promptOf(body), 40) };
    const end = [chunk({}, "stop"), usage];
    const events = [
      chunk({ role: "assistant" }),
      ...numbers,
      ...(this.nature.order ? end.toReversed() : end),
    ];
    const frames = [...events.map((event) => `data: ${JSON.stringify(event)}\n\n`), "data: [DONE]\n\n"];
    return { status: 200, headers: this.#headers("text/event-stream"), body: frames };
  }

  #json(status: number, body: JsonObject): HostReply {
    return { status, headers: this.#headers("application/json"), body: JSON.stringify(body) };
  }

  #headers(type: string): Record<string, string> {
    const { header } = this.nature;
    return { "content-type": type, "x-request-id": "r-1", ...(header !== undefined && { [header]: "1" }) };
  }
}

function promptOf(body: JsonObject): string {
  const [message] = Array.isArray(body["messages"]) ? body["messages"] : [];
  const content = isObject(message) ? message["content"] : undefined;
  return typeof content === "string" ? content : JSON.stringify(content);
}

function textOf(body: unknown): string {
  return typeof body === "string" ? body : Buffer.from(body as Uint8Array).toString();
}
