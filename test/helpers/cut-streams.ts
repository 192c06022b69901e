/** Streams that wait behind an event of choice, and clients that break the connection there. */
import { type Piece, sse, startUpstream, type Upstream } from "./upstream.ts";

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

const USAGE = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 };

/** A stream of chat-completions, with the provider's counts at its end. */
export const EVENTS: readonly string[] = [
  chunk({ role: "assistant", content: "" }),
  chunk({ content: "one " }),
  chunk({ content: "two " }),
  chunk({ content: "three" }),
  chunk({}, "stop"),
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [], usage: USAGE })}\n\n`,
  "data: [DONE]\n\n",
];

export const WHOLE = EVENTS.join("");

export interface GatedUpstream extends Upstream {
  /** Lets the rest of a stream pass. */
  release(prompt: string): void;
  /** How many requests have had the prompt. */
  count(prompt: string): number;
}

/** A provider whose streams wait behind event N if the prompt ends with `at N`, until they are released. */
export function gatedUpstream(): GatedUpstream {
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const gateOf = (prompt: string) => {
    let gate = gates.get(prompt);
    if (!gate) gates.set(prompt, (gate = Promise.withResolvers()));
    return gate;
  };
  async function* gated(prompt: string): AsyncGenerator<Piece> {
    const at = Number(/at (\d+)$/.exec(prompt)?.[1] ?? EVENTS.length);
    yield* EVENTS.slice(0, at);
    if (at < EVENTS.length) await gateOf(prompt).promise;
    yield* EVENTS.slice(at);
  }
  const upstream = startUpstream(({ body }) => sse(gated(promptOf(body))));
  return Object.assign(upstream, {
    release: (prompt: string) => gateOf(prompt).resolve(),
    count: (prompt: string) => upstream.requests.filter(({ body }) => promptOf(body) === prompt).length,
  });
}

export function promptOf(body: Uint8Array): string {
  const { messages } = JSON.parse(Buffer.from(body).toString()) as { messages: { content: string }[] };
  return messages[0]!.content;
}

type Headers = Record<string, string>;

/** Asks for a stream, on a connection of its own. */
export function ask(
  url: string,
  prompt: string,
  headers: Headers = {},
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    keepalive: false,
    headers: { "content-type": "application/json", ...headers },
    ...(signal && { signal }),
    body: JSON.stringify({
      model: "host/some-model",
      stream: true,
      stream_options: { include_usage: true },
      messages: [{ role: "user", content: prompt }],
    }),
  });
}

/** Reads so many events, and breaks the connection. @returns the response whose body it did not get */
export async function cut(
  url: string,
  prompt: string,
  events: number,
  headers: Headers = {},
): Promise<Response> {
  const controller = new AbortController();
  const response = await ask(url, prompt, headers, controller.signal);
  let text = "";
  for await (const piece of response.body!) {
    text += Buffer.from(piece).toString();
    if (text === EVENTS.slice(0, events).join("")) break;
  }
  controller.abort();
  return response;
}

/** Waits until weir has noticed that the connections of its clients are closed; it may write to them before. */
export const noticed = () => Bun.sleep(300);

/** The call's id. */
export const idOf = (response: Response) => response.headers.get("x-request-id")!;

/** The line of a call in the log. */
export function lineOf(log: readonly string[], id: string): string | undefined {
  return log.find((line) => line.includes(`"id":"${id}"`));
}
