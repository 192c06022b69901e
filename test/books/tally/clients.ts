/** Calls of the tally in each client language. */
import { type Client, type Exchange, MAX_TOKENS } from "./exchange.ts";

/**
 * `answered`: to its end. `left`: by the client. `broken`: the answer ended in an error. `refused`: for a budget, for good.
 * `unavailable`: to be repeated. `failed`: the provider's error. `lost`: no answer, because a process was killed.
 */
export type Result = "answered" | "left" | "broken" | "refused" | "unavailable" | "failed" | "lost" | "other";

export interface Outcome {
  exchange: Exchange;
  result: Result;
  /** Of a refusal, or of what was not expected. */
  text: string;
}

interface Request {
  path: string;
  body: object;
  headers: Record<string, string>;
}

type Make = (model: string, prompt: string, stream: boolean, key: string) => Request;

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

const REQUESTS: Readonly<Record<Client, Make>> = {
  chat: (model, content, stream, key) => ({
    path: "/v1/chat/completions",
    headers: bearer(key),
    body: { model, stream, max_completion_tokens: MAX_TOKENS, messages: [{ role: "user", content }] },
  }),
  responses: (model, input, stream, key) => ({
    path: "/v1/responses",
    headers: bearer(key),
    body: { model, stream, store: false, max_output_tokens: MAX_TOKENS, input },
  }),
  messages: (model, content, stream, key) => ({
    path: "/v1/messages",
    headers: { "x-api-key": key, "anthropic-version": "2023-06-01" },
    body: { model, stream, max_tokens: MAX_TOKENS, messages: [{ role: "user", content }] },
  }),
  gemini: (model, text, stream, key) => ({
    path: `/v1beta/models/${model}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    headers: { "x-goog-api-key": key },
    body: {
      contents: [{ role: "user", parts: [{ text }] }],
      generationConfig: { maxOutputTokens: MAX_TOKENS },
    },
  }),
  ollama: (model, content, stream, key) => ({
    path: "/api/chat",
    headers: bearer(key),
    body: { model, stream, options: { num_predict: MAX_TOKENS }, messages: [{ role: "user", content }] },
  }),
  embeddings: (model, input, _stream, key) => ({
    path: "/v1/embeddings",
    headers: bearer(key),
    body: { model, input },
  }),
};

/** What stands at the end of a stream that is whole. */
const LAST: Readonly<Record<Exclude<Client, "embeddings">, RegExp>> = {
  chat: /data: \[DONE\]\s*$/,
  responses: /event: response\.completed/,
  messages: /event: message_stop/,
  gemini: /"finishReason":\s*"STOP"/,
  ollama: /"done":\s*true/,
};

function isWhole({ client, stream }: Exchange, text: string): boolean {
  return client === "embeddings" || !stream || LAST[client].test(text);
}

/** @param at base URL of the gateway @param model the name that the client asks for */
export async function call(at: string, key: string, model: string, exchange: Exchange): Promise<Outcome> {
  const { client, prompt, stream, number, ending } = exchange;
  const { path, body, headers } = REQUESTS[client](model, prompt, stream, key);
  const controller = new AbortController();
  const done = (result: Result, text = ""): Outcome => ({ exchange, result, text });
  try {
    const response = await fetch(`${at}${path}`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json", "user-agent": `tally/${number}` },
      body: JSON.stringify(body),
      signal: controller.signal,
    });
    if (response.ok && ending === "left") {
      const reader = response.body!.getReader();
      for (let read = 0; read < 2; read++) if ((await reader.read()).done) break;
      controller.abort();
      return done("left");
    }
    const text = await response.text();
    if (response.ok) return done(isWhole(exchange, text) ? "answered" : "broken", text.slice(-300));
    if (text.includes("ledger_unavailable") || text.includes("books of weir"))
      return done("unavailable", text);
    if (response.status === 429) return done("refused", text);
    const isFromProvider = /The (request is wrong|model is overloaded)\./.test(text);
    return done(isFromProvider ? "failed" : "other", `${response.status} ${text}`);
  } catch {
    return done(ending === "cut" ? "broken" : "lost");
  }
}
