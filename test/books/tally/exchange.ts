/** The calls of the tally: each follows from its number alone, so that client and provider agree on it without talking. */
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { type Random, randomOf, TEXTS } from "../../helpers/text-kinds.ts";

/** Client languages, embeddings among them, and the formats of the providers. */
export const CLIENTS = ["chat", "responses", "messages", "gemini", "ollama", "embeddings"] as const;
export const HOSTS = ["chat", "responses", "messages", "gemini"] as const;
export type Client = (typeof CLIENTS)[number];
/** `program`: a plugin that answers by itself. `embeds`: a host of embeddings. */
export type Host = (typeof HOSTS)[number] | "program" | "embeds";

/**
 * `whole`: an answer to its end. `left`: the client leaves the stream. `cut`: the provider breaks it. `retried`: the first attempt
 * fails. `fallback`: the first model always fails, and one of another provider answers. `failed`: the provider refuses the request.
 */
export const ENDINGS = ["whole", "left", "cut", "retried", "fallback", "failed"] as const;
export type Ending = (typeof ENDINGS)[number];

/** Of a hundred calls. */
const SHARES: Readonly<Record<Ending, number>> = {
  whole: 70,
  left: 8,
  cut: 6,
  retried: 5,
  fallback: 6,
  failed: 5,
};

/** Tokens that the provider adds to the text of a prompt. */
const FRAME = 11;
/** The limit of output that each call names. */
export const MAX_TOKENS = 500;

export interface Exchange {
  number: number;
  client: Client;
  /** The host whose model the client asks for, and the one that answers. */
  asked: Host;
  host: Host;
  ending: Ending;
  stream: boolean;
  kind: string;
  prompt: string;
  /** What the provider counts: input without what it read from its cache; output with reasoning. */
  input: number;
  cacheRead: number;
  output: number;
  reasoning: number;
}

const KINDS = Object.keys(TEXTS);

export function exchangeOf(number: number): Exchange {
  const random = randomOf(number * 7919 + 1);
  const client = pick(CLIENTS, random);
  const asked = client === "embeddings" ? "embeds" : pick([...HOSTS, "program"] as const, random);
  const ending = endingAt(asked, endingOf(random() * 100));
  const kind = KINDS[number % KINDS.length]!;
  const prompt = `tally-${number}. ${TEXTS[kind]!(random, 40 + Math.floor(random() * 1_500))}`;
  const counted = countTokens(prompt) + FRAME;
  const isEmbedding = asked === "embeds";
  const cacheRead = random() < 0.3 && !isEmbedding ? Math.floor(counted * random()) : 0;
  const output = isEmbedding ? 0 : 1 + Math.floor(random() * (MAX_TOKENS - 100));
  return {
    ...{ number, client, asked, ending, kind, prompt, cacheRead, output },
    host: ending === "fallback" ? fallbackOf(asked) : asked,
    stream: !isEmbedding && (ending === "left" || ending === "cut" || random() < 0.5),
    input: counted - cacheRead,
    // The format of messages has no count of reasoning.
    reasoning: random() < 0.3 ? Math.floor((output * random()) / 2) : 0,
  };
}

/** The host that answers for the dead model of another one. */
export function fallbackOf(host: Host): Host {
  return HOSTS[(HOSTS.findIndex((each) => each === host) + 1) % HOSTS.length]!;
}

/** A plugin's answer comes in one piece, and embeddings have no stream and no second host here. */
function endingAt(host: Host, ending: Ending): Ending {
  if (host === "program") return "whole";
  return host === "embeds" && ["left", "cut", "fallback"].includes(ending) ? "whole" : ending;
}

/** The number of the call that a text belongs to. */
export function numberIn(text: string): number {
  return Number(/tally-(\d+)/.exec(text)?.[1] ?? -1);
}

function endingOf(percent: number): Ending {
  let sum = 0;
  return ENDINGS.find((ending) => percent < (sum += SHARES[ending])) ?? "whole";
}

function pick<Value>(values: readonly Value[], random: Random): Value {
  return values[Math.floor(random() * values.length)]!;
}
