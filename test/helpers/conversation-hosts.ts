/** Hosts of several formats for tests of conversations, and what such tests look at. */
import OpenAI, { APIError } from "openai";
import { type RunningGateway, startGateway } from "./gateway.ts";
import { collect } from "./sdk.ts";
import { type Answer, json, sse, type Upstream, type UpstreamRequest } from "./upstream.ts";

/** Each provider speaks one format; `vendor` stores the answers of the responses format, `local` stores none. */
const PLUGIN = (url: string) => `
import { definePlugin } from "weir";
const provider = (name, speaks, traits) => ({ name, models: [name + "/*"], baseUrl: "${url}/" + name, apiKey: "KEY", speaks, traits });
export default definePlugin({ name: "hosts", providers: [
  provider("vendor", { responses: "/responses" }, { storesAnswers: true }),
  provider("local", { responses: "/responses" }, {}),
  provider("talk", { "chat-completions": "/chat/completions" }, {}),
  provider("claude", { messages: "/messages" }, {}),
] });`;

let count = 0;

/** The number in the text of the newest answer. */
export const newest = (): number => count;

interface Body {
  stream?: boolean;
  store?: boolean;
  conversation?: unknown;
  input?: { role?: string; id?: string; content: string | { text: string }[] }[];
  messages?: { role: string; content: string | { text: string }[] }[];
}

export const bodyOf = (request: UpstreamRequest) => JSON.parse(request.body.toString()) as Body;

/** The texts of the messages that a request had, each with its role. */
export const messagesOf = (request: UpstreamRequest): string[] => {
  const { input, messages } = bodyOf(request);
  return (input ?? messages ?? []).map(({ role, content }) => {
    const text = typeof content === "string" ? content : content.map((part) => part.text).join("");
    return `${role}: ${text}`;
  });
};

/** A stream of values, one in each event. */
const events = (...values: (string | Record<string, unknown>)[]): Answer =>
  sse(
    values.map((value) => {
      if (typeof value === "string") return `data: ${value}\n\n`;
      return `${"type" in value ? `event: ${String(value.type)}\n` : ""}data: ${JSON.stringify(value)}\n\n`;
    }),
  );

/** How the hosts answer: each text has a number. */
export function answerOf(request: UpstreamRequest): Answer {
  // weir asks the only provider with stored answers for one that it does not have.
  if (request.method === "GET")
    return json({ error: { message: "not found", code: "response_not_found", param: null } }, 404);
  const text = `answer ${++count}`;
  const { stream = false, store = true } = bodyOf(request);
  if (request.path.endsWith("/chat/completions")) return chatAnswer(text, stream);
  if (request.path.endsWith("/messages")) return messagesAnswer(text, stream);
  const item = {
    ...{ id: `msg_${count}`, type: "message", role: "assistant", status: "completed" },
    content: [{ type: "output_text", text, annotations: [] }],
  };
  const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 };
  const facts = { id: `resp_${count}`, object: "response", created_at: 1, model: "m", store, error: null };
  const whole = { ...facts, status: "completed", output: [item], usage };
  if (!stream) return json(whole);
  return events(
    { type: "response.created", response: { ...facts, status: "in_progress", output: [] } },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: whole },
  );
}

function chatAnswer(content: string, stream: boolean): Answer {
  const facts = { id: `chatcmpl-${count}`, created: 1, model: "m" };
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
  const finish = { index: 0, finish_reason: "stop" };
  if (!stream)
    return json({
      ...{ ...facts, object: "chat.completion", usage },
      choices: [{ ...finish, message: { role: "assistant", content } }],
    });
  const object = "chat.completion.chunk";
  return events(
    { ...facts, object, choices: [{ index: 0, delta: { role: "assistant", content }, finish_reason: null }] },
    { ...facts, object, choices: [{ ...finish, delta: {} }], usage },
    "[DONE]",
  );
}

function messagesAnswer(text: string, stream: boolean): Answer {
  const facts = { id: `msg_${count}`, type: "message", role: "assistant", model: "m", stop_sequence: null };
  const usage = { input_tokens: 3, output_tokens: 2 };
  const end = { stop_reason: "end_turn", stop_sequence: null };
  if (!stream) return json({ ...facts, ...end, content: [{ type: "text", text }], usage });
  return events(
    { type: "message_start", message: { ...facts, content: [], stop_reason: null, usage } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: end, usage: { output_tokens: 2 } },
    { type: "message_stop" },
  );
}

/** A gateway in front of the hosts. */
export function startAt(
  { url }: Upstream,
  config: object,
  env: Record<string, string> = { WEIR_STATE: "none" },
): Promise<RunningGateway> {
  return startGateway({
    config: { retries: { attempts: 1 }, ...config },
    plugins: { "hosts.ts": PLUGIN(url) },
    env: { KEY: "key-of-the-hosts-123456", ...env },
  });
}

/** Status, code and parameter of the error with which a promise rejects. */
export const refusal = (pending: Promise<unknown>) =>
  pending.then(
    () => "no error",
    (error: unknown) => (error instanceof APIError ? [error.status, error.code, error.param] : error),
  );

/** The texts of a conversation, the oldest first. */
export async function textsOf(client: OpenAI, id: string): Promise<string[]> {
  const items = await collect(client.conversations.items.list(id, { order: "asc" }));
  return items.map((item) =>
    item.type === "message"
      ? `${item.role}: ${item.content.map((part) => ("text" in part ? part.text : part.type)).join("")}`
      : item.type,
  );
}
