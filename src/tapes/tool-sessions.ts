/** Sessions of clients whose tools a tape serves. */
import { INITIALIZE, type ToolMessage } from "./tool-message.ts";
import { SESSION } from "./tool-recorder.ts";

/** Silence after which a comment keeps a stream open. Milliseconds. */
const COMMENT_MS = 15_000;

export class Sessions {
  /** The messages that began them, by their ids. */
  readonly #begun = new Map<string, ToolMessage>();

  /** @returns the id of a new session */
  add(message: ToolMessage): string {
    const id = crypto.randomUUID();
    this.#begun.set(id, message);
    return id;
  }

  /** The message that began the session of a request. */
  of({ headers }: Request): ToolMessage | undefined {
    return this.#begun.get(headers.get(SESSION) ?? "");
  }

  /** The answer to a message of a session that there is not: its client begins a new one. */
  refusal(request: Request, { id, method }: ToolMessage): Response | undefined {
    if (method === INITIALIZE || !request.headers.has(SESSION) || this.of(request)) return undefined;
    return gone(id);
  }

  /** What a server says by itself is not on the tape: the stream is silent. */
  stream(request: Request): Response {
    if (!request.headers.has(SESSION))
      return new Response(null, { status: 405, headers: { allow: "POST, DELETE" } });
    if (!this.of(request)) return gone();
    let timer: ReturnType<typeof setInterval> | undefined;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        const comment = () => controller.enqueue(Buffer.from(": \n\n"));
        comment();
        timer = setInterval(comment, COMMENT_MS);
      },
      cancel: () => clearInterval(timer),
    });
    return new Response(body, {
      headers: { "content-type": "text/event-stream", "cache-control": "no-cache, no-transform" },
    });
  }

  end(request: Request): Response {
    const isKnown = this.#begun.delete(request.headers.get(SESSION) ?? "");
    return isKnown ? new Response(null, { status: 204 }) : gone();
  }
}

function gone(id: string | number | null = null): Response {
  const error = { code: -32600, message: "The session is not known: call initialize again." };
  return new Response(JSON.stringify({ jsonrpc: "2.0", id, error }), {
    status: 404,
    headers: { "content-type": "application/json" },
  });
}
