/** Clients of every language and framing that read a stream as strictly as their parsers do, and know no codec of weir. */
import { BEHIND_ERROR } from "./streamed.ts";

export interface StreamClient {
  name: string;
  path(model: string): string;
  body(model: string, prompt: string): object;
  /** The values of the events of a stream. @throws for text that a reader of the language could not read */
  read(text: string): unknown[];
}

const turns = (prompt: string) => [{ role: "user", content: prompt }];

/** The data of server-sent events; comments and Anthropic's pings have no meaning. */
function readEvents(text: string): unknown[] {
  const blocks = text.split(/\r?\n\r?\n/);
  if (blocks.pop() !== "") throw new Error(`The stream ends within an event: ${text.slice(-200)}`);
  return blocks.flatMap((block) => {
    const lines = block.split(/\r?\n/).filter((line) => !line.startsWith(":"));
    if (lines.length === 0) return [];
    const fields = lines.map((line) => /^(event|data): (.*)$/.exec(line));
    if (fields.includes(null)) throw new Error(`Not an event: ${block}`);
    const data = fields.filter((field) => field![1] === "data").map((field) => field![2]);
    if (data.length !== 1) throw new Error(`Not one value: ${block}`);
    const value: unknown = data[0] === "[DONE]" ? "[DONE]" : JSON.parse(data[0]!);
    return JSON.stringify(value) === '{"type":"ping"}' ? [] : [value];
  });
}

/** One JSON value in each line; clients trim a line, and parse it. */
function readLines(text: string): unknown[] {
  const lines = text.split("\n");
  if (lines.pop()!.trim() !== "") throw new Error(`The stream ends within a line: ${text.slice(-200)}`);
  return lines.map((line) => JSON.parse(line) as unknown);
}

const gemini = (method: string) => (model: string) => `/v1beta/models/${encodeURIComponent(model)}:${method}`;
const contents = (_model: string, prompt: string) => ({
  contents: [{ role: "user", parts: [{ text: prompt }] }],
});

export const STREAM_CLIENTS: readonly StreamClient[] = [
  {
    name: "chat-completions",
    path: () => "/v1/chat/completions",
    body: (model, prompt) => ({ model, stream: true, messages: turns(prompt) }),
    read: readEvents,
  },
  {
    name: "messages",
    path: () => "/v1/messages",
    body: (model, prompt) => ({ model, stream: true, max_tokens: 99, messages: turns(prompt) }),
    read: readEvents,
  },
  {
    name: "responses",
    path: () => "/v1/responses",
    body: (model, prompt) => ({ model, stream: true, input: prompt }),
    read: readEvents,
  },
  {
    name: "gemini",
    path: gemini("streamGenerateContent?alt=sse"),
    body: contents,
    read: readEvents,
  },
  {
    name: "gemini array",
    path: gemini("streamGenerateContent"),
    body: contents,
    read: (text) => JSON.parse(text) as unknown[],
  },
  {
    name: "ollama chat",
    path: () => "/api/chat",
    body: (model, prompt) => ({ model, messages: turns(prompt) }),
    read: readLines,
  },
  {
    name: "ollama generate",
    path: () => "/api/generate",
    body: (model, prompt) => ({ model, prompt }),
    read: readLines,
  },
];

export function askFor(
  url: string,
  client: StreamClient,
  model: string,
  prompt: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(url + client.path(model), {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(client.body(model, prompt)),
  });
}

/** Members that differ from call to call: times, and ids that weir makes. */
const PASSING =
  /"(?:created|created_at|completed_at|(?:\w+_)?duration|request_id|responseId|createTime)":(?:"[^"]*"|[\d.]+)/g;
const MADE_ID = /\b(req|resp|msg|rs|fc|call|chatcmpl|toolu|gen)([-_])[\w-]{12,}/g;

/** What a stream says, one text for each event, without what differs from call to call. */
export function contentOf(client: StreamClient, text: string): string[] {
  return client
    .read(text.replace(BEHIND_ERROR, ""))
    .map((value) => JSON.stringify(value).replace(PASSING, '"passing":0').replace(MADE_ID, "$1$2made"));
}
