/** The rig's upstream: a fixed chat-completions answer, or a paced stream. `bun upstream.ts PORT` */
const text = "x".repeat(700);
const ANSWER = JSON.stringify({
  id: "chatcmpl-bench",
  object: "chat.completion",
  created: 1,
  model: "bench",
  choices: [
    {
      index: 0,
      message: { role: "assistant", content: text, refusal: null },
      logprobs: null,
      finish_reason: "stop",
    },
  ],
  usage: { prompt_tokens: 10, completion_tokens: 100, total_tokens: 110 },
});

const chunk = (delta: object, finish: string | null) =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "bench", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const PIECE = Buffer.from(chunk({ content: "y".repeat(60) }, null));
const LAST = Buffer.from(`${chunk({}, "stop")}data: [DONE]\n\n`);

/** Pieces of a stream, and the milliseconds between two. */
const PIECES = 100;
const PACE_MS = 10;

function stream(): Response {
  let sent = 0;
  const body = new ReadableStream({
    async pull(controller) {
      if (sent++ === PIECES) {
        controller.enqueue(LAST);
        return controller.close();
      }
      await Bun.sleep(PACE_MS);
      controller.enqueue(PIECE);
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

Bun.serve({
  port: Number(process.argv[2]),
  hostname: "127.0.0.1",
  idleTimeout: 0,
  async fetch(request) {
    const body = await request.text();
    if (body.includes('"stream":true')) return stream();
    return new Response(ANSWER, { headers: { "content-type": "application/json" } });
  },
});
