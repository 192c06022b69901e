/** Upstreams that are hostile or broken: an error for the client, soon, and no more memory than an answer may take. */
import { afterAll, beforeAll } from "bun:test";
import { type RunningGateway, upstreamConfig } from "../helpers/gateway.ts";
import { type Pieces, startUpstream, type Upstream } from "../helpers/upstream.ts";
import { costOf, listenerOf, megabytes, startBinary } from "./armour.ts";
import { goal } from "./goals.ts";

let gateway: RunningGateway;
let upstream: Upstream;

beforeAll(async () => {
  upstream = startUpstream(() => ({ raw: [], ending: "fin" }));
  gateway = await startBinary({
    config: {
      ...upstreamConfig({ openai: upstream.url }),
      retries: { attempts: 1 },
      timeouts: { firstByteMs: 1_000, gapMs: 1_000, holdMs: 5_000, totalMs: 10_000 },
    },
  });
}, 600_000);

afterAll(async () => {
  await gateway?.stop();
  upstream?.stop();
});

const OK = "HTTP/1.1 200 OK\r\n";
const JSON_HEAD = `${OK}content-type: application/json\r\n`;
const STREAM = `${OK}content-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n`;
const BIG = "x".repeat(65_536);
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const delta = (content: string) =>
  chunk(
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`,
  );

/** So many bytes of one piece, or fewer when nobody takes them. */
function* many(piece: string, bytes = 200_000_000): Generator<string> {
  for (let sent = 0; sent < bytes; sent += piece.length) yield piece;
}

function* after(beginning: string, rest: Iterable<string>): Generator<string> {
  yield beginning;
  yield* rest;
}

const ANSWERS: Record<string, () => Pieces> = {
  "a head that does not end": () => after(OK, many(`x-a: ${BIG}\r\n`)),
  "headers without end": () => after(OK, many("x-a: y\r\n".repeat(1_000))),
  "a status line that does not end": () => after("HTTP/1.1 200 ", many(BIG)),
  "hints without end": () => many("HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n".repeat(500)),
  "a JSON answer that does not end": () =>
    after(`${JSON_HEAD}transfer-encoding: chunked\r\n\r\n`, many(chunk(BIG))),
  "a length beyond all numbers": () => [`${JSON_HEAD}content-length: 99999999999999999999\r\n\r\n{}`],
  "a length below zero": () => [`${JSON_HEAD}content-length: -5\r\n\r\n{}`],
  "two lengths": () => [`${JSON_HEAD}content-length: 2\r\ncontent-length: 5\r\n\r\n{}xxx`],
  "a chunk beyond all numbers": () => [`${STREAM}FFFFFFFFFFFFFFFFF\r\nxx`],
  "a chunk size that does not end": () => after(STREAM, many("0".repeat(65_536))),
  "a chunk extension that does not end": () => after(`${STREAM}5;`, many(BIG)),
  "trailers without end": () => after(`${STREAM}${chunk("data: {}\n\n")}0\r\n`, many(`x: ${BIG}\r\n`)),
  "an event that does not end": () => after(STREAM + chunk("data: "), many(chunk(BIG))),
  "an event that does not end, in mid-stream": () =>
    after(STREAM + delta("hi") + chunk("data: "), many(chunk(BIG))),
  "an event of lines without end": () => after(STREAM, many(chunk("data: x\n".repeat(8_000)))),
  "comments without end": () => after(STREAM, many(chunk(`: ${BIG}\n`), 100_000_000)),
  "carriage returns": () => after(STREAM, many(chunk(`${"data: x\n".repeat(8_000)}\r`))),
  "another protocol": () => ["SSH-2.0-OpenSSH_9.2\r\n"],
  "no head at all": () => ["<html>hi</html>"],
  "bare line feeds": () => ["HTTP/1.1 200 OK\ncontent-length: 2\n\n{}"],
  zeroes: () => ["\0".repeat(1_000)],
  "half a head": () => [OK],
  "HTTP/2": () => ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
};

/** Native and streamed, translated and streamed, translated and whole. */
const WAYS = [
  { path: "/v1/chat/completions", stream: true },
  { path: "/v1/messages", stream: true },
  { path: "/v1/messages", stream: false },
];

goal(
  27,
  "100× rule, for upstreams",
  "every answer ends in an error within 6 s; the process grows by less than 400 MB; alive",
  async () => {
    const pid = listenerOf(gateway.port);
    const start = costOf(pid).rss;
    const wrong: string[] = [];
    let slowest = 0;
    for (const [what, pieces] of Object.entries(ANSWERS))
      for (const { path, stream } of WAYS) {
        upstream.answer(() => ({ raw: pieces(), ending: "stall" }));
        const at = performance.now();
        const response = await fetch(gateway.url + path, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({
            model: "openai/m",
            stream,
            max_tokens: 9,
            messages: [{ role: "user", content: "x" }],
          }),
        });
        const tail = await tailOf(response);
        const took = performance.now() - at;
        slowest = Math.max(slowest, took);
        const failed = response.status >= 500 || tail.includes('"error"');
        if (!failed)
          wrong.push(`${what}, ${path} ${stream}: ${response.status} in ${took.toFixed(0)} ms, ${tail}`);
      }
    const { peak } = costOf(pid);
    for (const sentence of wrong.slice(0, 10)) console.log(sentence);
    return {
      measured: `${Object.keys(ANSWERS).length} answers × ${WAYS.length} ways: ${wrong.length} wrong, the slowest ${(slowest / 1000).toFixed(1)} s; memory ${megabytes(start)}, at most ${megabytes(peak)}`,
      holds: wrong.length === 0 && peak - start < 400e6 && listenerOf(gateway.port) === pid,
      inTime: slowest <= 6_000,
    };
  },
  600_000,
);

/** The end of a body, however long it is. */
async function tailOf(response: Response): Promise<string> {
  let tail = "";
  try {
    for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>)
      tail = (tail + Buffer.from(bytes).toString()).slice(-300);
  } catch (cause) {
    tail += `"error" ${String(cause)}`;
  }
  return tail;
}
