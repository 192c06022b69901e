/** Clients that are slow on purpose: heads, bodies and readers that dribble, against the default limits. */
import { afterAll, beforeAll } from "bun:test";
import type { Socket } from "node:net";
import { type RunningGateway, upstreamConfig } from "../helpers/gateway.ts";
import { endless, sse, startUpstream, type Upstream } from "../helpers/upstream.ts";
import {
  connectedTo,
  costOf,
  listenerOf,
  megabytes,
  openRaw,
  quantile,
  startBinary,
  writeRequest,
} from "./armour.ts";
import { goal } from "./goals.ts";

let gateway: RunningGateway;
let upstream: Upstream;

beforeAll(async () => {
  upstream = startUpstream(() => sse(endless(PIECE, 1)));
  gateway = await startBinary({ config: upstreamConfig({ openai: upstream.url }) });
}, 600_000);

afterAll(async () => {
  await gateway?.stop();
  upstream?.stop();
});

const PIECE = `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: { content: "x".repeat(8000) }, finish_reason: null }] })}\n\n`;
const BODY = JSON.stringify({ model: "openai/m", stream: true, messages: [{ role: "user", content: "go" }] });
const JSON_TYPE = "content-type: application/json";
const POST = "/v1/chat/completions";

interface Attack {
  what: string;
  connections: number;
  /** What is sent at once. */
  opening: string;
  /** What is sent every few seconds. */
  drop?: (count: number) => string;
}

const ATTACKS: readonly Attack[] = [
  {
    what: "heads",
    connections: 1000,
    opening: `POST ${POST} HTTP/1.1\r\nHost: localhost\r\n`,
    drop: (count) => `X-${count}: ${count}\r\n`,
  },
  {
    what: "bodies",
    connections: 1000,
    opening: writeRequest("POST", POST, ["Host: localhost", JSON_TYPE, "content-length: 4096"], "{"),
    drop: () => " ",
  },
  {
    what: "long bodies",
    connections: 50,
    opening: writeRequest("POST", POST, ["Host: localhost", JSON_TYPE, "content-length: 30000000"], "{"),
    drop: () => " ".repeat(20),
  },
  {
    what: "chunked bodies",
    connections: 50,
    opening: writeRequest(
      "POST",
      "/v1/messages",
      ["Host: localhost", JSON_TYPE, "transfer-encoding: chunked"],
      "1\r\n{\r\n",
    ),
    drop: () => "1\r\n \r\n",
  },
  {
    what: "kept behind an unknown path",
    connections: 50,
    opening: writeRequest("POST", "/nowhere", ["Host: localhost", JSON_TYPE, "content-length: 2"], "{}"),
  },
  {
    what: "kept behind an explanation",
    connections: 50,
    opening: writeRequest(
      "POST",
      "/v1/explain",
      ["Host: localhost", JSON_TYPE, `content-length: ${BODY.length}`],
      BODY,
    ),
  },
  {
    what: "second heads",
    connections: 100,
    opening: `${writeRequest("GET", "/health", ["Host: localhost"])}GET /health HTTP/1.1\r\nHost: localhost\r\n`,
    drop: (count) => `X-${count}: ${count}\r\n`,
  },
  {
    what: "refused uploads",
    connections: 50,
    opening: writeRequest(
      "POST",
      POST,
      ["Host: localhost", "content-type: text/plain", "content-length: 100000"],
      "{",
    ),
    drop: () => " ",
  },
  { what: "silent connections", connections: 100, opening: "" },
];

/** Time between two drops. Milliseconds. */
const DROP_MS = 5_000;

/** Opens all connections of an attack. @returns milliseconds until each was closed, as they come in. */
function begin({ connections, opening, drop }: Attack): { closedAfter: number[]; stop(): void } {
  const closedAfter: number[] = [];
  const startedAt = performance.now();
  const open = new Set<Socket>();
  for (let index = 0; index < connections; index++) {
    const socket = openRaw(gateway.port, opening);
    open.add(socket);
    socket.on("data", () => {});
    socket.on("close", () => {
      open.delete(socket);
      closedAfter.push(performance.now() - startedAt);
    });
  }
  let count = 0;
  const timer = setInterval(() => {
    count++;
    if (drop) for (const socket of open) socket.write(drop(count));
  }, DROP_MS);
  return {
    closedAfter,
    stop() {
      clearInterval(timer);
      for (const socket of open) socket.destroy();
    },
  };
}

/** A good client: so many short calls, one after the other. @returns milliseconds each took, sorted. */
async function goodTraffic(calls: number): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < calls; index++) {
    const at = performance.now();
    const response = await fetch(gateway.url + POST, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "mock/echo", messages: [{ role: "user", content: "hi" }] }),
    });
    if (!(await response.text()).includes("hi")) throw new Error(`A good call got ${response.status}.`);
    times.push(performance.now() - at);
    await Bun.sleep(5);
  }
  return times.sort((a, b) => a - b);
}

/** The longest a slow client may keep its connection. Milliseconds. */
const PATIENCE_MS = 75_000;

/** A call that nobody says anything about for longer than a connection may be idle. */
const SILENT_MS = 72_000;
let silent: Promise<string>;

goal(
  26,
  "slow attacks",
  "good traffic p99 ≤ 2 × quiet (or + 20 ms); all slow ones closed in 75 s",
  async () => {
    await goodTraffic(300);
    const quiet = quantile(await goodTraffic(500), 0.99);
    const pid = listenerOf(gateway.port);
    const before = costOf(pid);
    silent = fetch(gateway.url + POST, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        model: `mock/slow-start-${SILENT_MS}`,
        messages: [{ role: "user", content: "hi" }],
      }),
      timeout: false,
    } as RequestInit).then(
      (response) => response.text(),
      (cause: Error) => `broken: ${cause.name}`,
    );
    const startedAt = performance.now();
    const attacks = ATTACKS.map((attack) => ({ ...attack, ...begin(attack) }));
    await Bun.sleep(3_000);
    const busy = quantile(await goodTraffic(1_000), 0.99);
    const during = costOf(pid);
    const isOver = () => attacks.every(({ connections, closedAfter }) => closedAfter.length === connections);
    while (!isOver() && performance.now() - startedAt < PATIENCE_MS + 5_000) await Bun.sleep(250);
    const left = attacks.filter(({ connections, closedAfter }) => closedAfter.length < connections);
    const slowest = attacks.map(({ what, closedAfter, connections }) => {
      const last = closedAfter.at(-1) ?? Number.NaN;
      return `${what} ${closedAfter.length}/${connections} by ${(last / 1000).toFixed(1)} s`;
    });
    const longest = Math.max(...attacks.flatMap(({ closedAfter }) => closedAfter));
    for (const attack of attacks) attack.stop();
    const after = quantile(await goodTraffic(200), 0.99);
    return {
      measured: `p99 ${quiet.toFixed(1)} ms quiet, ${busy.toFixed(1)} ms under attack, ${after.toFixed(1)} ms after; ${slowest.join(", ")}; memory ${megabytes(before.rss)} → ${megabytes(during.rss)}, descriptors ${before.fds} → ${during.fds}`,
      holds: left.length === 0,
      inTime: busy <= Math.max(2 * quiet, quiet + 20) && longest <= PATIENCE_MS,
    };
  },
  900_000,
);

goal(
  13,
  "a slow model survives, without a stream",
  `${SILENT_MS / 1000} s without a byte on a connection: answered`,
  async () => {
    const text = await silent;
    const isAnswered = text.includes('"finish_reason":"stop"');
    return { measured: isAnswered ? "answered" : text.slice(0, 200), holds: isAnswered };
  },
);

/** How long a client may leave its answer unread; the default only where the time itself is judged. Milliseconds. */
const READ_MS = process.env["WEIR_GOALS"] ? 60_000 : 5_000;
const READERS = 500;
/** Memory that a busy process takes however few readers there are. */
const FREE_MEMORY = 32e6;

goal(
  53,
  "readers that never read",
  `each connection closed in ${(READ_MS + 15_000) / 1000} s by the gateway, ≤ 128 KB each`,
  async () => {
    const own = await startBinary({
      config: { ...upstreamConfig({ openai: upstream.url }), timeouts: { readMs: READ_MS } },
    });
    const sockets: Socket[] = [];
    try {
      const pid = listenerOf(own.port);
      await fetch(`${own.url}/health`);
      const before = costOf(pid);
      const startedAt = performance.now();
      const seconds = () => (performance.now() - startedAt) / 1000;
      const head = ["Host: localhost", JSON_TYPE, `content-length: ${BODY.length}`];
      for (let index = 0; index < READERS; index++) {
        const socket = openRaw(own.port, writeRequest("POST", POST, head, BODY));
        socket.pause();
        sockets.push(socket);
      }
      // The time begins when a reader's socket is full, which takes a busy machine long.
      const unread = () => {
        const connected = connectedTo(own.port);
        return sockets.filter(({ localPort }) => localPort && connected.has(localPort)).length;
      };
      while (unread() < READERS && seconds() < 60) await Bun.sleep(100);
      const opened = unread();
      let atLimit: { rss: number; readers: number } | undefined;
      while (unread() > 0 && seconds() < READ_MS / 1000 + 300) {
        await Bun.sleep(500);
        // Just before the first ones are cut off for not reading.
        if (!atLimit && seconds() > Math.min(READ_MS / 1000, 45))
          atLimit = { rss: costOf(pid).rss, readers: unread() };
      }
      const closedAfter = seconds();
      const each = Math.max(0, (atLimit?.rss ?? costOf(pid).rss) - before.rss - FREE_MEMORY) / READERS;
      return {
        measured: `${opened} opened, ${unread()} left, the last one closed after ${closedAfter.toFixed(1)} s; ${(each / 1e3).toFixed(0)} KB each, resident ${megabytes(before.rss)} → ${megabytes(atLimit?.rss ?? 0)}, at most ${megabytes(costOf(pid).peak)}`,
        holds: opened === READERS && unread() === 0,
        inTime: closedAfter <= READ_MS / 1000 + 15 && each <= 128e3,
      };
    } finally {
      for (const socket of sockets) socket.destroy();
      await own.stop();
    }
  },
  900_000,
);
