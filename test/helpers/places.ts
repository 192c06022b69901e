/** A provider at several places, each a fake upstream: what the tests of retries, fallbacks and deployments share. */
import { afterEach } from "bun:test";
import { type GatewayOptions, type RunningGateway, startGateway } from "./gateway.ts";
import { type Answer, type Handler, json, sse, startUpstream, type Upstream } from "./upstream.ts";
import { streamedText } from "./streamed.ts";

/** A piece of a chat-completions stream. */
export const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: "c1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

export const STREAM = [
  chunk({ role: "assistant", content: "hello" }),
  ...Array.from({ length: 5 }, (_, word) => chunk({ content: ` word ${word}` })),
  chunk({}, "stop"),
  "data: [DONE]\n\n",
];

const WHOLE = {
  id: "c1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

/** Answers whole or as a stream, as it was asked. */
export const answering: Handler = (request) =>
  request.body.includes('"stream":true') ? sse(STREAM) : json(WHOLE);

export const failing = (status: number, headers: Record<string, string> = {}) =>
  json({ error: { message: "no", type: "server_error", param: null, code: null } }, status, headers);

/** The credential of a place: if one is ever seen by a client or in a log, a test fails. */
export const keyOf = (index: number) => `sk-canary-of-place-${index}-7d1f0c`;

/** Provider `openai` at these places: `openai/d0`, `openai/d1`… @param more what each has besides */
export function places(urls: readonly string[], more: (index: number) => object = () => ({})) {
  const deployments = urls.map((url, index) => ({
    name: `d${index}`,
    apiKey: keyOf(index),
    baseUrl: `${url}/v1`,
    ...more(index),
  }));
  return { openai: { deployments } };
}

/** The first of them is preferred. */
export const inOrder = (priority: number) => ({ priority });

export interface Stage {
  upstream(handler: Handler | Answer): Upstream;
  gateway(config: Record<string, unknown>, more?: GatewayOptions): Promise<RunningGateway>;
}

/** Starts what a test needs, and stops it after each test. */
export function makeStage(start = startGateway): Stage {
  const open: { stop(): void | Promise<void> }[] = [];
  afterEach(async () => {
    for (const one of open.splice(0)) await one.stop();
  });
  return {
    upstream(handler) {
      const started = startUpstream(handler);
      open.push(started);
      return started;
    },
    async gateway(config, more) {
      const started = await start({ config, ...more });
      open.push(started);
      return started;
    },
  };
}

export interface Asked {
  /** Members of the body besides model and messages. */
  body?: object;
  headers?: Record<string, string>;
  path?: string;
  signal?: AbortSignal;
}

export interface Got {
  status: number;
  headers: Headers;
  text: string;
}

/** Posts a request for `openai/m`. */
export function post({ url }: { url: string }, asked: Asked = {}): Promise<Response> {
  const { body = {}, headers = {}, path = "/v1/chat/completions", signal } = asked;
  const messages = [{ role: "user", content: "go" }];
  return fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ model: "openai/m", max_tokens: 99, messages, ...body }),
    signal,
  });
}

/** Posts it, and reads the whole answer. */
export async function ask(running: { url: string }, asked: Asked = {}): Promise<Got> {
  const response = await post(running, asked);
  return { status: response.status, headers: response.headers, text: await streamedText(response) };
}
