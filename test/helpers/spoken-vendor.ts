/** A vendor of chat-completions whose streamed answers a test says piece by piece. */

/** One answer that runs. */
export interface Spoken {
  say(text: string): void;
  think(text: string): void;
  /** A piece of a call of a tool; with a name it begins one. */
  call(index: number, text: string, name?: string): void;
  end(): void;
  /** Whether weir has closed the connection. */
  isLeft(): boolean;
}

export interface SpokenVendor {
  url: string;
  /** The answer to the request with this prompt, when it has come. */
  answer(prompt: string): Promise<Spoken>;
  stop(): void;
}

export function startSpokenVendor(): SpokenVendor {
  const answers = new Map<string, PromiseWithResolvers<Spoken>>();
  const waiting = (prompt: string) => {
    const known = answers.get(prompt) ?? Promise.withResolvers<Spoken>();
    answers.set(prompt, known);
    return known;
  };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { messages } = (await request.json()) as { messages: { content: string }[] };
      let isLeft = false;
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => waiting(messages.at(-1)!.content).resolve(spokenBy(controller, () => isLeft)),
        cancel: () => void (isLeft = true),
      });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    answer: (prompt) => waiting(prompt).promise,
    stop: () => void server.stop(true),
  };
}

const encoder = new TextEncoder();

function spokenBy(controller: ReadableStreamDefaultController<Uint8Array>, isLeft: () => boolean): Spoken {
  const write = (text: string) => {
    if (!isLeft()) controller.enqueue(encoder.encode(text));
  };
  const send = (delta: object, finish: string | null = null) => {
    const choices = [{ index: 0, delta, finish_reason: finish }];
    const chunk = { id: "c1", object: "chat.completion.chunk", created: 1, model: "m", choices };
    write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  return {
    say: (content) => send({ content }),
    think: (reasoning_content) => send({ reasoning_content }),
    call: (index, text, name) =>
      send({
        tool_calls: [
          {
            index,
            ...(name !== undefined && { id: `call_${index}`, type: "function" }),
            function: { ...(name !== undefined && { name }), arguments: text },
          },
        ],
      }),
    end() {
      send({}, "stop");
      write("data: [DONE]\n\n");
      if (!isLeft()) controller.close();
    },
    isLeft,
  };
}
