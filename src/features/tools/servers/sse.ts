/**
 * The transport HTTP+SSE of revision 2024-11-05: one stream brings all messages of the server, and its first event says where messages
 * of the client are posted. What it carries is what programs say over their standard output.
 */
import { isObject } from "../../../core/json.ts";
import { parseExact } from "../../../core/exact-json.ts";
import type { ServerEvent } from "../wire/events.ts";
import type { ClientFacts, Connection, ConnectionEvents } from "./connection.ts";
import { type HttpTarget, send, unreachable } from "./http.ts";
import type { ChildEvents, MessageChannel } from "./stdio/child.ts";
import { StdioConnection } from "./stdio/stdio.ts";

/** Longest time of a post and of the handshake. Milliseconds. */
const POST_MS = 30_000;

export interface SseOptions {
  readonly target: HttpTarget;
  readonly client: ClientFacts;
  readonly events: ConnectionEvents;
  readonly stop: AbortSignal;
}

/** @returns undefined if the URL is no such stream @throws McpError if the server cannot be reached or refuses */
export async function openSse({ target, client, events, stop }: SseOptions): Promise<Connection | undefined> {
  const closing = new AbortController();
  const abort = () => closing.abort(stop.reason);
  stop.addEventListener("abort", abort, { once: true });
  try {
    const headers = { accept: "text/event-stream" };
    const reply = await send(target, { method: "GET", headers, stop: closing.signal });
    const stream = reply.events();
    const first = reply.status < 300 ? (await stream.next()).value : undefined;
    if (first?.event !== "endpoint") {
      closing.abort(new Error("no stream of messages"));
      return undefined;
    }
    const posts = { ...target, url: endpointIn(target, first.data) };
    const { name, isMixed = false } = target;
    const start = (heard: ChildEvents) => new SseChannel(posts, stream, closing, heard);
    const connection = new StdioConnection({ server: name, isMixed }, start, events);
    const opening = { era: "legacy" as const, preferred: "legacy" as const, client };
    await connection.open({ ...opening, probeMs: POST_MS, startMs: POST_MS });
    return connection;
  } catch (thrown) {
    closing.abort(thrown);
    throw thrown;
  } finally {
    stop.removeEventListener("abort", abort);
  }
}

/** A server that names another origin would get weir's credential for it. @throws McpError 1002 */
function endpointIn({ name, url }: HttpTarget, data: string): string {
  const found = URL.canParse(data, url) ? new URL(data, url) : undefined;
  if (found && found.origin === new URL(url).origin) return found.href;
  throw unreachable(name, "it names an endpoint at another origin");
}

class SseChannel implements MessageChannel {
  readonly errors = "";
  readonly #posts: HttpTarget;
  readonly #closing: AbortController;
  readonly #heard: ChildEvents;

  constructor(
    posts: HttpTarget,
    stream: AsyncGenerator<ServerEvent, void>,
    closing: AbortController,
    heard: ChildEvents,
  ) {
    this.#posts = posts;
    this.#closing = closing;
    this.#heard = heard;
    void this.#read(stream);
  }

  send(message: object): void {
    const { signal } = this.#closing;
    const headers = { "content-type": "application/json", accept: "application/json" };
    const stop = AbortSignal.any([signal, AbortSignal.timeout(POST_MS)]);
    send(this.#posts, { headers, text: JSON.stringify(message), stop })
      .then(async (reply) => {
        await reply.drop();
        if (reply.status >= 300) this.#end(`it answered a message with status ${reply.status}`);
      })
      .catch((thrown: unknown) => this.#end(thrown instanceof Error ? thrown.message : String(thrown)));
  }

  stop(): Promise<void> {
    this.#closing.abort(new Error("closed"));
    return Promise.resolve();
  }

  async #read(stream: AsyncGenerator<ServerEvent, void>): Promise<void> {
    try {
      for await (const { data } of stream) {
        const message = messageIn(data);
        if (message) this.#heard.message(message);
      }
      this.#end("it ended its stream");
    } catch (thrown) {
      this.#end(thrown instanceof Error ? thrown.message : String(thrown));
    }
  }

  #end(why: string): void {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort(new Error(why));
    this.#heard.ended(why);
  }
}

/** What is no message is not read, as it is with programs. */
function messageIn(data: string) {
  try {
    const value = parseExact(data);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
