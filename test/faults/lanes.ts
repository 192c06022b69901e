/** The four ways through the gateway, and what a client sees at the end of one. */
import { UPSTREAM_KEYS } from "../helpers/gateway.ts";
import { TEXT } from "./upstream/index.ts";
import { streamedText } from "../helpers/streamed.ts";

export interface Lane {
  name: string;
  path: "/v1/chat/completions" | "/v1/messages";
  /** Provider that answers. */
  provider: "openai" | "anthropic";
  translated: boolean;
}

export const LANES: readonly Lane[] = [
  { name: "chat → chat", path: "/v1/chat/completions", provider: "openai", translated: false },
  { name: "messages → messages", path: "/v1/messages", provider: "anthropic", translated: false },
  { name: "chat → messages", path: "/v1/chat/completions", provider: "anthropic", translated: true },
  { name: "messages → chat", path: "/v1/messages", provider: "openai", translated: true },
];

export interface Seen {
  status: number;
  text: string;
  requestId: string | null;
  ms: number;
}

export async function askLane(url: string, lane: Lane, model: string, stream: boolean): Promise<Seen> {
  const began = performance.now();
  const response = await fetch(url + lane.path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      model: `${lane.provider}/${model}`,
      max_tokens: 100,
      stream,
      messages: [{ role: "user", content: "hello" }],
    }),
  });
  const text = await streamedText(response);
  return {
    status: response.status,
    text,
    requestId: response.headers.get("x-request-id"),
    ms: performance.now() - began,
  };
}

const TERMINATOR = { "/v1/chat/completions": "data: [DONE]", "/v1/messages": "event: message_stop" };

/** `whole`, `error`, `in-band`, `unterminated` (neither terminator nor error), or what is wrong with it. */
export function judge(seen: Seen, { path }: Lane, stream: boolean): string {
  const leaked = Object.values(UPSTREAM_KEYS).some((key) => seen.text.includes(key));
  if (leaked) return "a credential is in the answer";
  if (seen.requestId === null) return "there is no request id";
  if (seen.status !== 200)
    return isTypedError(seen.text, path) ? "error" : `status ${seen.status} without a typed error`;
  if (!stream) return textOf(seen.text, path) === TEXT ? "whole" : "200, but not the answer";
  const ended = seen.text.includes(TERMINATOR[path]);
  const failed =
    path === "/v1/messages" ? seen.text.includes("event: error") : /data: \{"error"/.test(seen.text);
  if (ended && failed) return "an error and a terminator";
  if (failed) return "in-band";
  if (!ended) return "unterminated";
  return deltasOf(seen.text) === TEXT ? "whole" : "a terminator behind another answer";
}

function isTypedError(text: string, path: Lane["path"]): boolean {
  try {
    const body = JSON.parse(text) as { type?: string; error?: { type?: string; message?: string } };
    return (
      typeof body.error?.message === "string" && (path === "/v1/messages" ? body.type === "error" : true)
    );
  } catch {
    return false;
  }
}

function textOf(text: string, path: Lane["path"]): string | undefined {
  const body = JSON.parse(text) as {
    choices?: { message: { content: string } }[];
    content?: { text?: string }[];
  };
  return path === "/v1/messages" ? body.content?.[0]?.text : body.choices?.[0]?.message.content;
}

function deltasOf(text: string): string {
  let said = "";
  for (const line of text.split(/\r\n|\r|\n/)) {
    if (!line.startsWith("data: {")) continue;
    try {
      const data = JSON.parse(line.slice(6)) as {
        choices?: { delta?: { content?: string } }[];
        delta?: { text?: string };
      };
      said += data.choices?.[0]?.delta?.content ?? data.delta?.text ?? "";
    } catch {
      said += "";
    }
  }
  return said;
}
