/** Answers messages to servers of tools from a tape alone: no server starts. */
import { isObject, type JsonObject, parseJson } from "../core/json.ts";
import { TOOL, type TapeEntry } from "../gateway/recording/entry.ts";
import type { Mask } from "../gateway/recording/meaning.ts";
import type { OwnRoute, Visit } from "../gateway/seams.ts";
import { parseFrames, writeFrame } from "../stream/sse.ts";
import type { Tape, Wanted } from "./match.ts";
import { describeMiss } from "./miss.ts";
import { INITIALIZE, LISTEN, meaningOfMessage, readMessage, type ToolMessage } from "./tool-message.ts";
import { TOOL_PATHS } from "./tool-message.ts";
import { PROTOCOL, SESSION } from "./tool-recorder.ts";
import { Sessions } from "./tool-sessions.ts";

/** Name in the scope `endpoints` of keys. */
const ENDPOINT = "tools";
/** JSON-RPC codes; `missed` is outside of the range that the protocol reserves. */
const CODE = { request: -32600, missed: 1006 } as const;
/** Largest message. Bytes. */
const MOST_BYTES = 64 * 1024 ** 2;
const COMMENT_MS = 15_000;
const JSON_HEADERS = { "content-type": "application/json" };
const STREAM_HEADERS = { "content-type": "text/event-stream", "cache-control": "no-cache, no-transform" };

export interface ToolPlayerOptions {
  tape: Tape;
  /** The tape's name, for messages. */
  name: string;
  mask: Mask;
  /** Answers take as long as they took when they were recorded. */
  keepsTime: boolean;
  /** Reports a message that is not on the tape. */
  onMiss(text: string): void;
}

export class ToolPlayer {
  readonly sessions = new Sessions();
  readonly #options: ToolPlayerOptions;

  constructor(options: ToolPlayerOptions) {
    this.#options = options;
  }

  /** The routes of a gateway that serves tools from a tape. */
  routes(): OwnRoute[] {
    return TOOL_PATHS.flatMap((path, at) => [
      {
        ...{
          method: "POST" as const,
          path,
          id: `tapedTools${at}`,
          summary: "A message, answered from a tape",
        },
        handle: (request: Request, visit: Visit) => this.#post(request, visit),
      },
      {
        ...{ method: "GET" as const, path, id: `tapedToolsStream${at}`, summary: "The stream of a session" },
        handle: async (request: Request, visit: Visit) => {
          await visit.caller(ENDPOINT);
          visit.allowSilence();
          return this.sessions.stream(request);
        },
      },
      {
        ...{ method: "DELETE" as const, path, id: `tapedToolsEnd${at}`, summary: "End a session" },
        handle: async (request: Request, visit: Visit) => {
          await visit.caller(ENDPOINT);
          return this.sessions.end(request);
        },
      },
    ]);
  }

  async #post(request: Request, visit: Visit): Promise<Response> {
    await visit.caller(ENDPOINT);
    const message = readMessage(await visit.body(MOST_BYTES));
    if (!message) return errorAnswer(undefined, CODE.request, "The body is no message of JSON-RPC.", 400);
    const gone = this.sessions.refusal(request, message);
    if (gone) return gone;
    const wanted = this.wanted(request, message);
    const entry = this.#options.tape.find(wanted);
    if (entry) return this.answer(entry, message);
    return message.id === undefined ? accepted() : (alwaysAnswered(message) ?? this.miss(wanted, message));
  }

  wanted(request: Request, message: ToolMessage): Wanted {
    const meaning = meaningOfMessage(new URL(request.url).pathname, message, this.#options.mask);
    return { operation: TOOL, format: PROTOCOL, stream: false, meaning };
  }

  /** The recorded answer, with the ids of this message. */
  async answer(entry: TapeEntry, message: ToolMessage): Promise<Response> {
    const { status, headers, took = 0 } = entry;
    const { keepsTime } = this.#options;
    const session =
      message.method === INITIALIZE && SESSION in headers ? this.sessions.add(message) : undefined;
    const all = { ...headers, ...(session !== undefined && { [SESSION]: session }) };
    if (!entry.ms) {
      if (keepsTime) await Bun.sleep(took);
      const text = entry.answer.join("");
      const body = text === "" ? null : rewritten(text, entry, message);
      return new Response(body, { status, headers: all });
    }
    const pieces = entry.answer.map((text, index) => ({
      text: parseFrames(Buffer.from(text))
        .map((frame) => writeFrame({ ...frame, data: rewritten(frame.data, entry, message) }))
        .join(""),
      ms: keepsTime ? (entry.ms![index] ?? 0) : 0,
    }));
    const body = streamOf(pieces, message.method === LISTEN);
    return new Response(body, { status, headers: { ...STREAM_HEADERS, ...all } });
  }

  /** The error for a message that the tape has not. */
  miss(wanted: Wanted, { id }: ToolMessage): Response {
    const text = describeMiss(this.#options.tape, this.#options.name, wanted);
    this.#options.onMiss(text);
    return errorAnswer(id, CODE.missed, text, 200);
  }
}

/** When a client asks that depends on the time alone. */
export function alwaysAnswered({ method, id }: ToolMessage): Response | undefined {
  if (method !== "ping") return undefined;
  return new Response(JSON.stringify({ jsonrpc: "2.0", id, result: {} }), { headers: JSON_HEADERS });
}

export const accepted = () => new Response(null, { status: 202 });

/** @param id of the message; absent: it is not known */
export function errorAnswer(
  id: string | number | undefined,
  code: number,
  message: string,
  status: number,
): Response {
  const data = code === CODE.missed ? { data: { code: "not_on_tape" } } : {};
  const body = { jsonrpc: "2.0", id: id ?? null, error: { code, message, ...data } };
  return new Response(JSON.stringify(body), { status, headers: JSON_HEADERS });
}

/** A message of the server with the ids of the message that it answers now. @param text JSON; another text stays as it is */
function rewritten(text: string, { tool }: TapeEntry, { id, params }: ToolMessage): string {
  const message = parseJson(text);
  if (!isObject(message)) return text;
  if (!("method" in message)) return JSON.stringify(id === undefined ? message : { ...message, id });
  const meta = params["_meta"];
  const token = isObject(meta) ? meta["progressToken"] : undefined;
  const given = message["params"] as JsonObject | undefined;
  if (token === undefined || given?.["progressToken"] !== tool?.progress) return text;
  return JSON.stringify({ ...message, params: { ...given, progressToken: token } });
}

/** @param stays open until the client leaves */
function streamOf(
  pieces: readonly { text: string; ms: number }[],
  stays: boolean,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const startedAt = performance.now();
  const left = Promise.withResolvers<void>();
  let at = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const piece = pieces[at++];
      if (piece) {
        const wait = startedAt + piece.ms - performance.now();
        if (wait > 0) await Promise.race([Bun.sleep(wait), left.promise]);
        return controller.enqueue(encoder.encode(piece.text));
      }
      if (!stays) return controller.close();
      await Promise.race([Bun.sleep(COMMENT_MS), left.promise]);
      controller.enqueue(encoder.encode(": \n\n"));
    },
    cancel: () => left.resolve(),
  });
}
