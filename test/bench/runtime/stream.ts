/** What the kinds of streams cost as the body of a `Response`: `bun test/bench/runtime/stream.ts`. */
import { compare, END, handled } from "./compare.ts";

const encoder = new TextEncoder();
const pieces = ["one", "two", "three", END].map((text) => encoder.encode(text));
const whole = Buffer.concat(pieces);

function pulled(): ReadableStream {
  let next = 0;
  return new ReadableStream({
    pull(controller) {
      if (next < pieces.length) controller.enqueue(pieces[next++]!);
      else controller.close();
    },
  });
}

function started(): ReadableStream {
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
}

function direct(): ReadableStream {
  const source: Bun.DirectUnderlyingSource = {
    type: "direct",
    pull(controller) {
      for (const piece of pieces) controller.write(piece);
      controller.end();
    },
  };
  // The types of the web know no direct streams.
  return new ReadableStream(source as unknown as UnderlyingSource);
}

/** The runtime accepts a generator as a body; its types do not know it. */
async function* generated() {
  yield* pieces;
}

await compare("a handler whose body is, in four pieces", {
  "bytes in one piece": handled(() => new Response(whole)),
  "a stream, enqueued at its start": handled(() => new Response(started())),
  "a stream, pulled": handled(() => new Response(pulled())),
  'a stream of `type: "direct"`': handled(() => new Response(direct())),
  "an async generator": handled(() => new Response(generated() as unknown as BodyInit)),
});
