/**
 * What the way from the bytes of a request to its verdict costs, step by step: `bun test/bench/scan.ts`. Microseconds, the
 * best of several rounds; read them beside the whole parse.
 */
import { isUtf8 } from "node:buffer";
import { chatCompletionsFormat } from "../../src/formats/chat-completions/index.ts";
import { RequestBody } from "../../src/server/request-body.ts";
import { outline } from "../../src/stream/outline/outline.ts";
import { agentBody } from "./bodies.ts";

const DEPTH = 128;
const ROUNDS = 15;
const ROUND_MS = 40;
const client = chatCompletionsFormat.client!;

/** Microseconds a call, in the best round. */
function measured(work: () => unknown): number {
  let best = Infinity;
  for (let round = 0; round < ROUNDS; round++) {
    const started = performance.now();
    let calls = 0;
    for (; performance.now() - started < ROUND_MS; calls += 8) for (let n = 0; n < 8; n++) work();
    best = Math.min(best, ((performance.now() - started) * 1000) / calls);
  }
  return best;
}

function verdict(body: Buffer): RequestBody {
  const read = new RequestBody(body, DEPTH);
  read.validate(client.request);
  read.scalar("model");
  read.scalar("stream");
  read.spanOf("model");
  return read;
}

for (const bytes of [1_000, 20_000, 200_000, 500_000]) {
  const body = Buffer.from(agentBody({ model: "openai/gpt-4.1", stream: true, bytes }));
  if (verdict(body).isParsed) throw new Error("This body was parsed in full: there is nothing to measure.");
  const { text } = outline(body, DEPTH)!;
  const short = JSON.parse(text);
  const steps = {
    verdict: measured(() => verdict(body)),
    "of it utf-8": measured(() => isUtf8(body)),
    outline: measured(() => outline(body, DEPTH)),
    "parse of the outline": measured(() => JSON.parse(text)),
    rules: measured(() => client.request.checkRequest(short)),
    "whole parse": measured(() => JSON.parse(new TextDecoder().decode(body))),
  };
  const cells = Object.entries(steps).map(([step, micros]) => `${step} ${micros.toFixed(1)}`);
  console.log(`${body.length} bytes, ${text.length} in outline: ${cells.join(", ")}`);
}
