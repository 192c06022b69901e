/** Records the messages of clients to servers of tools while they pass. */
import type { Frame } from "../core/frame.ts";
import { isObject, parseJson } from "../core/json.ts";
import { TOOL, type TapeEntry } from "../gateway/recording/entry.ts";
import type { Mask } from "../gateway/recording/meaning.ts";
import type { AroundRoute } from "../gateway/seams.ts";
import { SseParser, writeFrame } from "../stream/sse.ts";
import { factsOf, isToolRoute, LISTEN, meaningOfMessage, readMessage } from "./tool-message.ts";

/** The protocol of the messages, in place of a format. */
export const PROTOCOL = "mcp";

/** Headers of answers that a tape keeps. */
const KEPT = ["content-type", "retry-after", "www-authenticate"];
export const SESSION = "mcp-session-id";
/** In place of the id of a session, which each replay makes anew. */
const SOME_SESSION = "***";

export interface ToolRecorderOptions {
  /** Takes a message that has its answer. @throws Error if the entry cannot be kept */
  write(entry: TapeEntry): void;
  mask: Mask;
  /** The number of the next call or message. */
  number(): number;
  /** Reports a message that is not on the tape, as a sentence. */
  onLost(sentence: string): void;
}

export class ToolRecorder {
  readonly #options: ToolRecorderOptions;

  constructor(options: ToolRecorderOptions) {
    this.#options = options;
  }

  /** Streams and ends of sessions are no messages: a replay makes its own. */
  readonly around: AroundRoute = async (visited, next) => {
    const { route, request, visit } = visited;
    if (route.method !== "POST" || !isToolRoute(route)) return next();
    let recording: ToolRecording | undefined;
    const body: typeof visit.body = async (most) => {
      const bytes = await visit.body(most);
      recording = this.begin(request, bytes);
      return bytes;
    };
    const response = await next({ ...visited, visit: { ...visit, body } });
    return recording ? recording.answered(response) : response;
  };

  /** @param taped number of the entry of another tape that answers */
  begin(request: Request, bytes: Uint8Array, taped?: () => number | undefined): ToolRecording | undefined {
    const message = readMessage(bytes);
    if (!message) return undefined;
    const { mask, number } = this.#options;
    const entry: TapeEntry = {
      ...{ call: number(), operation: TOOL, format: PROTOCOL, stream: false },
      request: meaningOfMessage(new URL(request.url).pathname, message, mask),
      ...{ status: 0, headers: {}, answer: [], tool: factsOf(message, mask) },
    };
    return new ToolRecording(entry, this.#options, taped);
  }
}

/** One message on its way to the tape. */
export class ToolRecording {
  readonly #entry: TapeEntry;
  readonly #options: ToolRecorderOptions;
  readonly #taped: (() => number | undefined) | undefined;
  readonly #startedAt = performance.now();
  #hasAnswer = false;
  #isEnded = false;

  constructor(entry: TapeEntry, options: ToolRecorderOptions, taped?: () => number | undefined) {
    this.#entry = entry;
    this.#options = options;
    this.#taped = taped;
  }

  /** Keeps the answer while the client reads it. @returns the answer for the client */
  async answered(response: Response): Promise<Response> {
    const { status, headers, body } = response;
    this.#entry.status = status;
    for (const name of KEPT) {
      const value = headers.get(name);
      if (value !== null) this.#entry.headers[name] = this.#options.mask(value);
    }
    if (headers.has(SESSION)) this.#entry.headers[SESSION] = SOME_SESSION;
    if (body && headers.get("content-type")?.startsWith("text/event-stream")) {
      this.#entry.ms = [];
      return new Response(this.#read(body), { status, headers });
    }
    const text = await response.text();
    this.#entry.took = this.#now();
    this.#entry.answer.push(this.#options.mask(text));
    this.#end();
    return new Response(body && text, { status, headers });
  }

  #read(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const reader = body.getReader();
    const parser = new SseParser();
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        try {
          const { done, value } = await reader.read();
          if (value) for (const frame of parser.push(value)) this.#frame(frame);
          if (value) controller.enqueue(value);
          if (!done) return;
          this.#end();
          controller.close();
        } catch (thrown) {
          this.#end();
          controller.error(thrown);
        }
      },
      cancel: (reason) => {
        this.#end();
        return reader.cancel(reason);
      },
    });
  }

  /** Events without data keep a connection open, or say where a client that lost it goes on. */
  #frame({ event, data }: Frame): void {
    if (data === "") return;
    const message = parseJson(data);
    if (isObject(message) && !("method" in message) && message["id"] === this.#entry.tool!.id)
      this.#hasAnswer = true;
    this.#entry.ms!.push(this.#now());
    this.#entry.answer.push(this.#options.mask(writeFrame({ ...(event !== undefined && { event }), data })));
  }

  #now(): number {
    return Math.round(performance.now() - this.#startedAt);
  }

  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const { tool, ms } = this.#entry;
    const what = `the message ${tool!.method} ${tool!.name ?? ""}`.trimEnd();
    if (ms && tool!.method !== LISTEN && !this.#hasAnswer)
      return this.#options.onLost(`${what} is not on the tape: the client left before the answer ended`);
    const taped = this.#taped?.();
    if (taped !== undefined) this.#entry.taped = taped;
    try {
      this.#options.write(this.#entry);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      this.#options.onLost(`${what} is not on the tape: ${reason}`);
    }
  }
}
