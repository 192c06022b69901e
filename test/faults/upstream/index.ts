/** An upstream that does wrong on demand: the model name says which fault, any other gets a healthy answer. */
import { createServer, type Socket } from "node:net";
import type { Fault, Healthy } from "./faults.ts";
import { FAULTS, framed } from "./faults.ts";

/** What every healthy answer says. */
export const TEXT = "It is whole, ünï🙂.";

export interface FaultyUpstream {
  url: string;
  port: number;
  /** Requests that arrived, and connections that are open. */
  requests: number;
  open: Set<Socket>;
  stop(): void;
}

const byName = new Map(FAULTS.map((fault) => [fault.name, fault]));

export async function startFaultyUpstream(): Promise<FaultyUpstream> {
  const upstream: FaultyUpstream = { url: "", port: 0, requests: 0, open: new Set(), stop: () => {} };
  const server = createServer((socket) => {
    upstream.open.add(socket);
    socket.setNoDelay(true);
    socket.on("error", () => {});
    socket.on("close", () => upstream.open.delete(socket));
    let bytes: Buffer = Buffer.alloc(0);
    let answered = false;
    socket.on("data", (data: Buffer) => {
      bytes = Buffer.concat([bytes, data]);
      const request = readRequest(bytes);
      if (!request || (!request.whole && !request.fault?.early) || answered) return;
      upstream.requests++;
      answered = !request.whole;
      bytes = Buffer.alloc(0);
      if (request.fault) request.fault.act(socket, request.healthy);
      else socket.write(framed(request.healthy));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", 4096, resolve));
  const address = server.address();
  upstream.port = typeof address === "object" && address ? address.port : 0;
  upstream.url = `http://127.0.0.1:${upstream.port}`;
  upstream.stop = () => {
    server.close();
    for (const socket of upstream.open) socket.destroy();
  };
  return upstream;
}

function readRequest(bytes: Buffer): { whole: boolean; fault?: Fault; healthy: Healthy } | undefined {
  const text = bytes.toString("latin1");
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const length = Number(/content-length: *(\d+)/i.exec(text.slice(0, end))?.[1] ?? 0);
  const body = text.slice(end + 4);
  const model = /"model": *"([^"]*)"/.exec(body)?.[1] ?? "";
  const healthy = text.startsWith("POST /v1/messages") ? MESSAGES : CHAT;
  return {
    whole: body.length >= length,
    fault: byName.get(model),
    healthy: { ...healthy, stream: /"stream": *true/.test(body) },
  };
}

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

export const CHAT: Healthy = {
  stream: false,
  json: JSON.stringify({
    id: "c",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: TEXT }, finish_reason: "stop" }],
    usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
  }),
  events: [
    chunk({ role: "assistant", content: "" }),
    chunk({ content: TEXT.slice(0, 9) }),
    chunk({ content: TEXT.slice(9) }),
    chunk({}, "stop"),
    "data: [DONE]\n\n",
  ],
  errorEvent: `data: ${JSON.stringify({ error: { message: "The server is busy.", type: "server_error", code: null } })}\n\n`,
  errorBody: JSON.stringify({ error: { message: "The server is busy.", type: "server_error", code: null } }),
};

const event = (type: string, more: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
const MESSAGE = { id: "msg", type: "message", role: "assistant", model: "m", stop_sequence: null };
const BUSY = { error: { type: "overloaded_error", message: "Overloaded" } };

export const MESSAGES: Healthy = {
  stream: false,
  json: JSON.stringify({
    ...MESSAGE,
    content: [{ type: "text", text: TEXT }],
    stop_reason: "end_turn",
    usage: { input_tokens: 3, output_tokens: 5 },
  }),
  events: [
    event("message_start", {
      message: { ...MESSAGE, content: [], stop_reason: null, usage: { input_tokens: 3, output_tokens: 1 } },
    }),
    event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    event("content_block_delta", { index: 0, delta: { type: "text_delta", text: TEXT.slice(0, 9) } }),
    event("content_block_delta", { index: 0, delta: { type: "text_delta", text: TEXT.slice(9) } }),
    event("content_block_stop", { index: 0 }),
    event("message_delta", {
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: { output_tokens: 5 },
    }),
    event("message_stop"),
  ],
  errorEvent: event("error", BUSY),
  errorBody: JSON.stringify({ type: "error", ...BUSY }),
};
