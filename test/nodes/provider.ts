/** A provider that keeps a bill of its own: it chooses the tokens of each answer, and sums them by the key that the text names. */

/** Nano-dollars a token, as the config of the gateways has them. */
const PRICE = { input: 1_000, output: 2_000 };

/** A stream: so many pieces, one after another. */
const PIECES = 100;

export interface Bill {
  calls: number;
  /** Nano-dollars. */
  cost: number;
}

export interface Provider {
  url: string;
  /** What whole answers cost, by the first word of the text. */
  bills: Map<string, Bill>;
  /** Streams that were left before their end. */
  readonly left: number;
  stop(): Promise<void>;
}

interface Asked {
  stream?: boolean;
  messages: readonly [{ content: string }];
}

/** @param streamMs how long a stream takes */
export function startProvider(streamMs: number): Provider {
  const bills = new Map<string, Bill>();
  let left = 0;
  const bill = (name: string, { prompt_tokens, completion_tokens }: ReturnType<typeof drawUsage>) => {
    const { calls, cost } = bills.get(name) ?? { calls: 0, cost: 0 };
    const amount = prompt_tokens * PRICE.input + completion_tokens * PRICE.output;
    bills.set(name, { calls: calls + 1, cost: cost + amount });
  };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      if (request.url.endsWith("/models")) return Response.json({ object: "list", data: [] });
      const { stream, messages } = (await request.json()) as Asked;
      const name = messages[0].content.split(" ", 1)[0]!;
      const usage = drawUsage();
      if (!stream) {
        bill(name, usage);
        return Response.json(completion(usage));
      }
      async function* pieces() {
        let isWhole = false;
        try {
          for (let at = 0; at < PIECES; at++) {
            yield frame({ choices: [{ index: 0, delta: { content: `word ${at} ` }, finish_reason: null }] });
            await Bun.sleep(streamMs / PIECES);
          }
          isWhole = true;
          bill(name, usage);
          yield frame({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
          yield frame({ choices: [], usage });
          yield "data: [DONE]\n\n";
        } finally {
          if (!isWhole) left++;
        }
      }
      return new Response(pieces() as unknown as BodyInit, {
        headers: { "content-type": "text/event-stream" },
      });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    bills,
    get left() {
      return left;
    },
    stop: () => server.stop(true),
  };
}

function drawUsage() {
  const prompt_tokens = 1 + Math.floor(Math.random() * 100);
  const completion_tokens = 1 + Math.floor(Math.random() * 500);
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

const frame = (rest: object) =>
  `data: ${JSON.stringify({ id: "c1", object: "chat.completion.chunk", created: 1, model: "m", ...rest })}\n\n`;

const completion = (usage: object) => ({
  ...{ id: "c1", object: "chat.completion", created: 1, model: "m", usage },
  choices: [{ index: 0, message: { role: "assistant", content: "Hello." }, finish_reason: "stop" }],
});
