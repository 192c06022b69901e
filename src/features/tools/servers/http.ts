/** Requests to a server over HTTP: one message goes out, the messages of the answer come in. */
import { type JsonObject, isObject } from "../../../core/json.ts";
import { createTransport, describeReason, HttpError } from "../../../http/index.ts";
import type { ByteStream, Method, Transport, UpstreamResponse } from "../../../http/types.ts";
import type { Credential } from "../auth/credential.ts";
import { leave, Lines, readEvents, type ServerEvent } from "../wire/events.ts";
import { parseExact } from "../../../core/exact-json.ts";
import { CODE, McpError } from "../wire/messages.ts";

export interface HttpTarget {
  /** Name of the server, for errors. */
  readonly name: string;
  readonly url: string;
  readonly credential: Credential;
  /** Default: one that keeps connections for the next request. */
  readonly transport?: Transport;
  /** Calls of several callers share the session: what could belong to several of them belongs to none. */
  readonly isMixed?: boolean;
}

export interface HttpAsk {
  readonly method?: Method;
  readonly headers: Readonly<Record<string, string>>;
  /** Text of the message. */
  readonly text?: string;
  readonly stop: AbortSignal;
}

/** The head of an answer. */
export interface HttpReply {
  readonly status: number;
  header(name: string): string | undefined;
  /** The messages of a JSON body or of a stream, in order. Consumed once. */
  messages(): AsyncGenerator<ServerMessage, void>;
  /** The events of a stream. Consumed once, in place of the messages. */
  events(): AsyncGenerator<ServerEvent, void>;
  /** Reads and drops the body, so that the connection can serve the next request. */
  drop(): Promise<void>;
}

/** A message, with what its event says about resumption. */
export interface ServerMessage {
  readonly message: JsonObject | undefined;
  readonly id?: string;
  readonly retry?: number;
}

/** Largest JSON answer. Bytes. */
const MOST_BYTES = 16 * 1024 * 1024;
/** Longest time to connect. Milliseconds. */
const CONNECT_MS = 10_000;

const keeping = createTransport(process.env);
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** @throws McpError 1002 if the server cannot be reached; the reason of `stop` */
export async function send(target: HttpTarget, ask: HttpAsk): Promise<HttpReply> {
  const first = await sendOnce(target, ask);
  if (first.status !== 401 && first.status !== 403) return replyOf(target, first);
  const challenge = first.headers.get("www-authenticate") ?? undefined;
  if (!(await target.credential.refused({ status: first.status, challenge }))) return replyOf(target, first);
  await discard(first);
  return replyOf(target, await sendOnce(target, ask));
}

async function sendOnce(target: HttpTarget, ask: HttpAsk): Promise<UpstreamResponse> {
  const { method = "POST", headers, text, stop } = ask;
  const credential = await target.credential.headers();
  stop.throwIfAborted();
  const transport = target.transport ?? keeping;
  try {
    return await transport({
      ...{ method, url: target.url, headers: { ...headers, ...credential }, connectMs: CONNECT_MS },
      ...{ body: text === undefined ? [] : [encoder.encode(text)], stop, pool: target.name },
    });
  } catch (cause) {
    stop.throwIfAborted();
    throw unreachable(target.name, cause);
  }
}

/** Error 1002. */
export function unreachable(name: string, cause: unknown): McpError {
  const why = cause instanceof HttpError ? describeReason(cause.reason) : String(cause);
  return new McpError(CODE.unreachable, `server ${name} cannot be reached: ${why}`, {
    data: { server: name },
  });
}

/** Error 1005. @param what clause without the name of the server */
export function invalidAnswer(name: string, what: string): McpError {
  return new McpError(CODE.invalid, `server ${name} ${what}`, { data: { server: name } });
}

/** Error 1004. */
export function cutAnswer(name: string): McpError {
  return new McpError(
    CODE.cut,
    `server ${name} ended its answer before the result; the tool may have acted`,
    {
      data: { server: name },
    },
  );
}

function replyOf({ name }: HttpTarget, response: UpstreamResponse): HttpReply {
  const media = (response.headers.get("content-type") ?? "").split(";")[0]!.trim().toLowerCase();
  return {
    status: response.status,
    header: (header) => response.headers.get(header) ?? undefined,
    async *events() {
      if (response.body && media === "text/event-stream") yield* readEvents(response.body);
    },
    async *messages() {
      if (!response.body || response.status === 204) return;
      const isStream = media === "text/event-stream";
      // The page of an error is no message.
      if (!isStream && !response.ok && !/^application\/(.+\+)?json$/.test(media)) return discard(response);
      try {
        const whole = isStream ? undefined : response.arrived?.();
        if (whole && !isStream) yield* fromText(name, decoder.decode(whole));
        else yield* isStream ? fromEvents(name, readEvents(response.body)) : fromLines(name, response.body);
      } catch (cause) {
        if (cause instanceof HttpError) return;
        throw cause;
      }
    },
    drop: () => discard(response),
  };
}

async function* fromEvents(
  name: string,
  events: AsyncGenerator<ServerEvent, void>,
): AsyncGenerator<ServerMessage, void> {
  for await (const { data, id, retry } of events)
    yield {
      message: data.trim() === "" ? undefined : messageIn(name, data),
      ...(id !== undefined && { id }),
      ...(retry !== undefined && { retry }),
    };
}

function* fromText(name: string, text: string): Generator<ServerMessage, void> {
  const only = wholeMessage(text);
  if (only) return yield { message: only };
  for (const line of text.split("\n")) if (line.trim() !== "") yield { message: messageIn(name, line) };
}

/** One JSON body, or several lines of JSON: some servers stream without the type of a stream. */
async function* fromLines(name: string, body: ByteStream): AsyncGenerator<ServerMessage, void> {
  const lines = new Lines();
  const reader = body.getReader();
  let size = 0;
  let text = "";
  let isOver = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value!.length;
      if (size > MOST_BYTES) throw invalidAnswer(name, `sent an answer of more than ${MOST_BYTES} bytes`);
      for (const line of lines.push(value!)) {
        text += line;
        // A line that is no whole message is a part of a body with line ends.
        const message = wholeMessage(text);
        if (!message) continue;
        text = "";
        yield { message };
      }
    }
    isOver = true;
  } finally {
    if (!isOver) void leave(reader);
  }
  yield* fromText(name, text + lines.rest());
}

function wholeMessage(text: string): JsonObject | undefined {
  const last = text.trim();
  if (!last.startsWith("{") || !last.endsWith("}")) return undefined;
  try {
    const value = parseExact(last);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function messageIn(name: string, text: string): JsonObject {
  let value: unknown;
  try {
    value = parseExact(text);
  } catch {
    throw invalidAnswer(name, "answered with text that is no JSON");
  }
  if (!isObject(value)) throw invalidAnswer(name, "answered with JSON that is no message");
  return value;
}

async function discard(response: UpstreamResponse): Promise<void> {
  await response.bytes().catch(() => {});
}
