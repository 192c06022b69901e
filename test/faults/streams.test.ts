/** Goals about streams: endings, the leaving client, back-pressure, thousands at once. Against the compiled binary. */
import { afterAll, beforeAll } from "bun:test";
import { createServer, connect, type Socket } from "node:net";
import { memoryOf } from "../bench/rig.ts";
import { type RunningGateway, upstreamConfig } from "../helpers/gateway.ts";
import { listenerOf, startBinary } from "./armour.ts";
import { goal } from "./goals.ts";
import { readStreamed } from "../helpers/streamed.ts";
import { askLane, judge, type Lane, LANES } from "./lanes.ts";
import { CHAT, MESSAGES } from "./upstream/index.ts";

/** What the upstream does with the next request; it has read all of it. */
type Act = (socket: Socket) => void;

let act: Act = () => {};
let open = 0;
let requests = 0;
let gateway: RunningGateway;

const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";

const server = createServer((socket) => {
  open++;
  let text = "";
  socket.on("error", () => {});
  socket.on("close", () => open--);
  socket.on("data", (data: Buffer) => {
    text += data.toString("latin1");
    const end = text.indexOf("\r\n\r\n");
    if (end < 0 || text.length < end + 4 + Number(/content-length: *(\d+)/i.exec(text)?.[1] ?? 0)) return;
    text = "";
    requests++;
    act(socket);
  });
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", 8192, resolve));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`;
  gateway = await startBinary({
    config: { ...upstreamConfig({ openai: url, anthropic: url }), retries: { attempts: 1 } },
  });
}, 600_000);

afterAll(async () => {
  await gateway?.stop();
  server.close();
});

async function until(holds: () => boolean, ms: number): Promise<boolean> {
  for (const end = performance.now() + ms; performance.now() < end; await Bun.sleep(2))
    if (holds()) return true;
  return holds();
}

/** A streamed request over a socket of its own. */
function openStream(model: string, onData?: (bytes: Buffer) => void): Socket {
  const body = JSON.stringify({ model, stream: true, messages: [{ role: "user", content: "x" }] });
  const socket = connect(gateway.port, "127.0.0.1", () =>
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    ),
  );
  socket.on("error", () => {});
  socket.on("data", onData ?? (() => {}));
  return socket;
}

/** The goal says 10,000; a fifth of them shows the same in a test's time. */
const LEAVINGS = 2_000;

goal(1, "a client that leaves stops the upstream", "p99 ≤ 10 ms, 0 left open", async () => {
  const took: number[] = [];
  let left = 0;
  for (let round = 0; round < LEAVINGS; round++) {
    // In front of the head, at its end, or in the middle; by FIN or by RST.
    const phase = round % 3;
    const arrived = Promise.withResolvers<Socket>();
    act = (socket) => {
      if (phase > 0) socket.write(HEAD + CHAT.events[0]);
      arrived.resolve(socket);
    };
    const seen = Promise.withResolvers<void>();
    const client = openStream("openai/m", () => seen.resolve());
    const upstream = await arrived.promise;
    if (phase > 0) await seen.promise;
    if (phase === 2) upstream.write(CHAT.events[1]!);
    const closed = Promise.withResolvers<void>();
    upstream.once("close", () => closed.resolve());
    const began = performance.now();
    if (round % 2 === 0) client.destroy();
    else client.resetAndDestroy();
    const inTime = await Promise.race([closed.promise.then(() => true), Bun.sleep(2_000).then(() => false)]);
    if (inTime) took.push(performance.now() - began);
    else left++;
  }
  took.sort((a, b) => a - b);
  const p99 = took[Math.floor(took.length * 0.99)] ?? Infinity;
  return {
    measured: `p99 ${p99.toFixed(1)} ms over ${LEAVINGS} leavings in three phases, ${left} left open`,
    holds: left === 0,
    inTime: p99 <= 10,
  };
});

goal(
  5,
  "a stream that is cut at any byte is no success",
  "100 % fail; 0 terminators",
  async () => {
    let cuts = 0;
    let wrong = 0;
    let behindFinish = 0;
    for (const lane of LANES) {
      const { events } = lane.provider === "openai" ? CHAT : MESSAGES;
      const bytes = Buffer.from(events.join(""));
      const finish = Buffer.byteLength(events.slice(0, -1).join(""));
      let cut = 0;
      act = (socket) => void socket.end(Buffer.concat([Buffer.from(HEAD), bytes.subarray(0, cut)]));
      for (cut = 0; cut < bytes.length - 1; cut++) {
        const verdict = judge(await askLane(gateway.url, lane, "m", true), lane, true);
        cuts++;
        if (verdict === "error" || verdict === "in-band") continue;
        // Behind the finish reason the answer itself is whole.
        if (cut >= finish - 2 && (verdict === "whole" || verdict === "unterminated")) behindFinish++;
        else wrong++;
      }
    }
    return {
      measured: `${cuts} cuts in 4 lanes, ${wrong} taken for whole before their finish reason, ${behindFinish} behind it`,
      holds: wrong === 0,
      short: `${behindFinish} cuts fell between the finish reason and the terminator: the answer is all there and is given as whole, because servers leave the terminator out`,
    };
  },
  600_000,
);

/** Sends the same to each lane at once. @returns what each made of it, in the order of the lanes */
async function inEachLane<Value>(
  events: (all: readonly string[]) => readonly string[],
  ask: (lane: Lane) => Promise<Value>,
) {
  const seen: Value[] = [];
  for (const [provider, { events: all }] of [
    ["openai", CHAT],
    ["anthropic", MESSAGES],
  ] as const) {
    act = (socket) => void socket.write(HEAD + events(all).join(""));
    const lanes = LANES.filter((lane) => lane.provider === provider);
    seen.push(...(await Promise.all(lanes.map(ask))));
  }
  return seen;
}

goal(
  55,
  "a finish reason, and then silence on an open connection",
  "complete in every lane, ≤ 5 s",
  async () => {
    const seen = await inEachLane(
      (all) => all.slice(0, -1),
      async (lane) => {
        const answer = await askLane(gateway.url, lane, "m", true);
        return { verdict: judge(answer, lane, true), ms: answer.ms };
      },
    );
    const longest = Math.max(...seen.map(({ ms }) => ms));
    return {
      measured: `${seen.map(({ verdict }) => verdict).join(", ")}; after ${(longest / 1000).toFixed(1)} s at most`,
      holds: seen.every(({ verdict }) => verdict === "whole"),
      inTime: longest <= 5_000,
    };
  },
);

goal(
  81,
  "an error event in mid-stream",
  "the event arrives, then the body breaks, in every lane, ≤ 5 s",
  async () => {
    const seen = await inEachLane(
      (all) => [
        all[0]!,
        "data: no JSON\n\n",
        'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"gone"}}\n\n',
      ],
      async ({ path, provider }) => {
        const at = performance.now();
        const response = await fetch(gateway.url + path, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({
            model: `${provider}/m`,
            max_tokens: 9,
            stream: true,
            messages: [{ role: "user", content: "x" }],
          }),
        });
        const { text, ending } = await readStreamed(response);
        return { told: text.includes('"error":{'), ending, ms: performance.now() - at };
      },
    );
    const longest = Math.max(...seen.map(({ ms }) => ms));
    return {
      measured: `${seen.filter(({ told }) => told).length} of ${seen.length} told, ${seen.map(({ ending }) => ending).join(", ")}; after ${(longest / 1000).toFixed(1)} s at most`,
      holds: seen.every(({ told, ending }) => told && ending === "broken"),
      inTime: longest <= 5_000,
    };
  },
);

goal(
  9,
  "2,000 streams at once",
  "all upstream within 5 s",
  async () => {
    act = (socket) => void socket.write(HEAD + CHAT.events[0]);
    const before = requests;
    const began = performance.now();
    const clients = Array.from({ length: 2_000 }, () => openStream("openai/m"));
    const all = await until(() => requests - before >= 2_000, 10_000);
    const took = performance.now() - began;
    for (const client of clients) client.destroy();
    const gone = await until(() => open === 0, 10_000);
    return {
      measured: `${requests - before} upstream after ${Math.round(took)} ms, ${open} left when the clients went`,
      holds: all && gone,
      inTime: took <= 5_000,
    };
  },
  600_000,
);

goal(10, "a client that does not read", "≤ 20 MB more for each stream of 1 GiB", async () => {
  const pid = listenerOf(gateway.port);
  let offered = 0;
  const piece = Buffer.from(
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: "x".repeat(8_000) } }] })}\n\n`,
  );
  act = (socket) => {
    socket.write(HEAD);
    const write = () => {
      while (!socket.destroyed && offered < 2 ** 30) {
        offered += piece.length;
        if (!socket.write(piece)) return void socket.once("drain", write);
      }
    };
    write();
  };
  const before = await memoryOf(pid);
  const client = openStream("openai/m");
  client.pause();
  await Bun.sleep(2_500);
  const grown = (await memoryOf(pid)) - before;
  const held = offered;
  client.destroy();
  await until(() => open === 0, 5_000);
  return {
    measured: `${grown.toFixed(1)} MB more after 2.5 s, ${(held / 1e6).toFixed(1)} MB taken from the upstream`,
    holds: grown <= 20 && held < 2 ** 29,
  };
});

goal(
  11,
  "5,000 quiet streams",
  "≤ 25 KB each",
  async () => {
    const pid = listenerOf(gateway.port);
    act = (socket) => void socket.write(HEAD + CHAT.events[0]);
    const before = await memoryOf(pid);
    let seen = 0;
    const clients: Socket[] = [];
    for (let batch = 0; batch < 10; batch++) {
      for (let n = 0; n < 500; n++) {
        let first = true;
        clients.push(
          openStream("openai/m", () => {
            if (first) seen++;
            first = false;
          }),
        );
      }
      await until(() => seen >= clients.length, 10_000);
    }
    await Bun.sleep(500);
    const each = (((await memoryOf(pid)) - before) * 1024) / clients.length;
    for (const client of clients) client.destroy();
    await until(() => open === 0, 10_000);
    return {
      measured: `${seen} open, ${each.toFixed(1)} KB each, ${open} left`,
      holds: seen === 5_000 && each <= 25 && open === 0,
    };
  },
  600_000,
);
