/** When a streamed answer ends for the client: at its terminator, after its finish reason, and never cleanly after an error. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openRaw, writeRequest } from "../faults/armour.ts";
import { chatChunk, messagesEvent, messagesText } from "../helpers/event-streams.ts";
import { type RunningGateway, startGateway, upstreamConfig } from "../helpers/gateway.ts";
import { anthropicClient, collect, openaiClient, seeError } from "../helpers/sdk.ts";
import { readStreamed } from "../helpers/streamed.ts";
import {
  json,
  type Piece,
  silence,
  sse,
  stalled,
  startUpstream,
  until,
  type Upstream,
} from "../helpers/upstream.ts";

let gateway: RunningGateway;
let upstream: Upstream;

beforeAll(async () => {
  upstream = startUpstream(json({}));
  gateway = await startGateway({
    config: {
      ...upstreamConfig({ openai: upstream.url, anthropic: upstream.url }),
      timeouts: { holdMs: 500, firstByteMs: 2_000, gapMs: 9_000, readMs: 1_000 },
      retries: { attempts: 1 },
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const CHAT = [chatChunk({ role: "assistant", content: "hello" }), chatChunk({}, "stop"), "data: [DONE]\n\n"];
const CHAT_ERROR = 'data: {"error":{"message":"the model fell over","type":"server_error","code":null}}\n\n';

const MESSAGES = messagesText("hello");
const MESSAGES_ERROR = messagesEvent("error", {
  error: { type: "overloaded_error", message: "the model fell over" },
});

const CHAT_PATH = "/v1/chat/completions";
const MESSAGES_PATH = "/v1/messages";

const LANES = [
  { name: "chat, native", path: CHAT_PATH, model: "openai/m", stream: CHAT, error: CHAT_ERROR },
  {
    name: "messages, native",
    path: MESSAGES_PATH,
    model: "anthropic/m",
    stream: MESSAGES,
    error: MESSAGES_ERROR,
  },
  {
    name: "chat client, messages upstream",
    path: CHAT_PATH,
    model: "anthropic/m",
    stream: MESSAGES,
    error: MESSAGES_ERROR,
  },
  {
    name: "messages client, chat upstream",
    path: MESSAGES_PATH,
    model: "openai/m",
    stream: CHAT,
    error: CHAT_ERROR,
  },
] as const;

type Lane = (typeof LANES)[number];

const bodyOf = ({ model }: Lane, more: object = {}) => ({
  model,
  max_tokens: 99,
  stream: true,
  messages: [{ role: "user" as const, content: "go" }],
  ...more,
});

const ask = (lane: Lane, more: object = {}) =>
  fetch(gateway.url + lane.path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(bodyOf(lane, more)),
  });

/** Every event of the answer up to its finish reason. */
const finished = ({ stream }: Lane) => stream.slice(0, -1);
/** All that came before the finish reason. */
const begun = ({ stream }: Lane) => stream.slice(0, stream === CHAT ? 1 : 3);

describe("a finish reason, and then silence on an open connection", () => {
  for (const lane of LANES) {
    test(`${lane.name}: the answer ends as complete`, async () => {
      upstream.answer(() => stalled(finished(lane)));
      const { text, ending } = await readStreamed(await ask(lane));
      expect(ending).toBe("clean");
      expect(text).toContain("hello");
      expect(text).not.toContain("error");
      expect(text).toEndWith(
        lane.path === CHAT_PATH
          ? "data: [DONE]\n\n"
          : 'event: message_stop\ndata: {"type":"message_stop"}\n\n',
      );
      await upstream.quiet(5_000);
      await until(
        () => outcomes().length > 0,
        5_000,
        () => "the call has no line in the log",
      );
      expect(outcomes().at(-1)).toBe("complete");
    }, 600_000);

    test(`${lane.name}: an event that arrives in small pieces is waited for`, async () => {
      const last = lane.stream.at(-1)!;
      const pieces = [...last.slice(0, 12)].flatMap((letter): Piece[] => [{ wait: 500 }, letter]);
      upstream.answer(() => stalled([...finished(lane), ...pieces, last.slice(12)]));
      const startedAt = performance.now();
      const { text, ending } = await readStreamed(await ask(lane));
      expect(performance.now() - startedAt).toBeGreaterThan(5_000);
      expect(ending).toBe("clean");
      expect(text).not.toContain("error");
    }, 600_000);

    test(`${lane.name}: signs of life of the provider do not prolong it`, async () => {
      const sign = { wait: 400 };
      const signs: Piece[] = Array.from({ length: 60 }, (_, index) => (index % 2 ? sign : ": alive\n\n"));
      upstream.answer(() => stalled([...finished(lane), ...signs]));
      const { text, ending } = await readStreamed(await ask(lane));
      expect(ending).toBe("clean");
      expect(text).not.toContain("error");
    }, 600_000);
  }

  for (const lane of LANES.slice(2))
    test(`${lane.name}: an answer as JSON that the provider streams ends as complete`, async () => {
      upstream.answer(() => stalled(finished(lane)));
      const response = await ask(lane, { stream: false, max_tokens: 20_000 });
      expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("hello")]);
    }, 600_000);

  test("a second choice may take longer than that to begin", async () => {
    const second = [chatChunk({ content: "again" }, null, 1), chatChunk({}, "stop", 1)];
    upstream.answer(() => sse([CHAT[0]!, CHAT[1]!, { wait: 5_500 }, ...second, CHAT[2]!]));
    const { text, ending } = await readStreamed(await ask(LANES[0], { n: 2 }));
    expect([ending, text]).toEqual(["clean", expect.stringContaining("again")]);
  }, 600_000);
});

describe("a native stream ends at its terminator", () => {
  for (const lane of LANES.slice(0, 2))
    test(`${lane.name}: also where the provider ends its body later, and the connection is reused`, async () => {
      const connections: number[] = [];
      for (let round = 0; round < 5; round++) {
        const { promise: released, resolve: release } = Promise.withResolvers<void>();
        upstream.answer((request) => {
          connections.push(request.connection);
          return sse(
            (async function* () {
              yield* lane.stream;
              await released;
            })(),
          );
        });
        const { text, ending } = await readStreamed(await ask(lane));
        // Had weir waited for the provider, it would have given up the connection.
        expect([text, ending]).toEqual([lane.stream.join(""), "clean"]);
        release();
        await upstream.quiet();
        await Bun.sleep(20);
      }
      expect(new Set(connections).size).toBeLessThan(connections.length);
    }, 600_000);
});

describe("an answer that fails behind its first byte is never ended cleanly", () => {
  const failures: readonly { why: string; answer: (lane: Lane) => ReturnType<typeof sse> }[] = [
    { why: "the provider breaks off", answer: (lane) => sse(begun(lane)) },
    {
      why: "the provider reports an error",
      answer: (lane) => sse([...begun(lane), lane.error, lane.stream.at(-1)!]),
    },
  ];
  for (const lane of LANES)
    for (const { why, answer } of failures) {
      test(`${lane.name}, ${why}: an error event, then the connection breaks`, async () => {
        upstream.answer(() => answer(lane));
        const { text, ending } = await readStreamed(await ask(lane));
        expect(text.match(lane.path === CHAT_PATH ? /^data: \{"error":/gm : /^event: error$/gm)?.length).toBe(
          1,
        );
        expect(ending).toBe("broken");
      }, 600_000);

      test(`${lane.name}, ${why}: the SDK reads the sentence of the error`, async () => {
        upstream.answer(() => answer(lane));
        const sentence = why.includes("reports") ? "the model fell over" : "ended before";
        const seen = await seeError(() => readWithSdk(lane));
        expect(seen.message).toContain(sentence);
      }, 600_000);
    }

  test("a client that pauses still reads the error event", async () => {
    upstream.answer(() => sse(begun(LANES[0])));
    const body = JSON.stringify(bodyOf(LANES[0]));
    const head = [
      "Host: localhost",
      "content-type: application/json",
      `content-length: ${Buffer.byteLength(body)}`,
    ];
    const socket = openRaw(gateway.port, writeRequest("POST", CHAT_PATH, head, body));
    let text = "";
    let closed = false;
    socket.pause();
    await Bun.sleep(1_000);
    socket.on("data", (bytes) => (text += bytes.toString("utf8")));
    socket.on("close", () => (closed = true));
    socket.resume();
    await until(
      () => closed,
      50_000,
      () => "the connection is open",
    );
    expect(text).toContain('data: {"error":');
    expect(text).not.toContain("\r\n0\r\n\r\n");
  }, 600_000);

  test("a stream that began with signs of life breaks too", async () => {
    upstream.answer(silence);
    const { text, ending } = await readStreamed(await ask(LANES[0]));
    expect([text, ending]).toEqual([expect.stringContaining('data: {"error":'), "broken"]);
  }, 600_000);
});

async function readWithSdk(lane: Lane): Promise<unknown> {
  const body = bodyOf(lane);
  if (lane.path === CHAT_PATH)
    return collect(await openaiClient(gateway.url).chat.completions.create({ ...body, stream: true }));
  return collect(await anthropicClient(gateway.url).messages.create({ ...body, stream: true }));
}

/** How each call so far ended, as the log says it. */
function outcomes(): string[] {
  return gateway.log.flatMap((line) => /"outcome":"(\w+)"/.exec(line)?.[1] ?? []);
}
