/** What goes wrong around an answer: connections that cannot be made, or are kept and closed in the wrong moment. */
import { afterEach, describe, expect, test } from "bun:test";
import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { type RunningGateway, upstreamConfig } from "../helpers/gateway.ts";
import { startBinary } from "./armour.ts";
import { askLane, judge, LANES } from "./lanes.ts";
import { framed } from "./upstream/faults.ts";
import { CHAT, MESSAGES } from "./upstream/index.ts";
import { SELF_SIGNED } from "./upstream/self-signed.ts";

const servers: { server: Server; sockets: Set<Socket> }[] = [];
let gateway: RunningGateway | undefined;

afterEach(async () => {
  await gateway?.stop();
  gateway = undefined;
  for (const { server, sockets } of servers.splice(0)) {
    server.close();
    for (const socket of sockets) socket.destroy();
  }
});

/** @returns the port */
async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  servers.push({ server, sockets });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return typeof address === "object" && address ? address.port : 0;
}

/** Calls `answer` with each whole request. */
function onRequests(answer: (socket: Socket, request: string) => void) {
  return (socket: Socket) => {
    let text = "";
    socket.on("error", () => {});
    socket.on("data", (data: Buffer) => {
      text += data.toString("latin1");
      const end = text.indexOf("\r\n\r\n");
      if (end < 0 || text.length < end + 4 + Number(/content-length: *(\d+)/i.exec(text)?.[1] ?? 0)) return;
      const request = text;
      text = "";
      answer(socket, request);
    });
  };
}

function healthy(request: string): Buffer {
  const format = request.startsWith("POST /v1/messages") ? MESSAGES : CHAT;
  return framed({ ...format, stream: /"stream": *true/.test(request) });
}

async function gatewayTo(url: string, more: Record<string, unknown> = {}): Promise<RunningGateway> {
  gateway = await startBinary({ config: { ...upstreamConfig({ openai: url, anthropic: url }), ...more } });
  return gateway;
}

describe("a connection that cannot be made is a typed error in every lane", () => {
  const seen: string[] = [];
  const cases: Record<string, () => Promise<string>> = {
    "nobody listens": async () => {
      const server = createServer();
      const port = await listen(server);
      await new Promise<void>((resolve) => server.close(() => resolve()));
      return `http://127.0.0.1:${port}`;
    },
    "reset as soon as it is there": async () =>
      `http://127.0.0.1:${await listen(createServer((socket) => socket.resetAndDestroy()))}`,
    "a certificate nobody vouches for": async () => {
      const server = createTlsServer(
        SELF_SIGNED,
        onRequests((_socket, request) => void seen.push(request)),
      );
      return `https://127.0.0.1:${await listen(server)}`;
    },
    "a name the certificate is not for": async () => {
      const server = createTlsServer(
        SELF_SIGNED,
        onRequests((_socket, request) => void seen.push(request)),
      );
      return `https://localhost:${await listen(server)}`;
    },
    "TLS to one that speaks plainly": async () => {
      const server = createServer(onRequests((_socket, request) => void seen.push(request)));
      return `https://127.0.0.1:${await listen(server)}`;
    },
    "plainly to one that speaks TLS": async () =>
      `http://127.0.0.1:${await listen(createTlsServer(SELF_SIGNED))}`,
  };
  for (const [why, start] of Object.entries(cases))
    test(
      why,
      async () => {
        const { url, log } = await gatewayTo(await start(), {
          timeouts: { firstByteMs: 700, totalMs: 5_000 },
          retries: { attempts: 2 },
        });
        for (const lane of LANES)
          for (const stream of [false, true]) {
            const answer = await askLane(url, lane, "m", stream);
            expect(judge(answer, lane, stream)).toBe("error");
            expect(answer.status).toBeGreaterThanOrEqual(500);
            expect(answer.text).not.toMatch(/127\.0\.0\.1|localhost/);
          }
        // No request, and so no credential, went where the certificate did not hold.
        expect(seen).toEqual([]);
        expect(log.join("\n")).not.toContain("canary");
      },
      600_000,
    );
});

test("kept connections that close around the moment of their next use lose no call", async () => {
  let requests = 0;
  const server = createServer(
    onRequests((socket, request) => {
      socket.write(healthy(request));
      // From before the next call comes until behind it.
      setTimeout(() => socket.end(), (requests++ % 40) / 10);
    }),
  );
  const { url } = await gatewayTo(`http://127.0.0.1:${await listen(server)}`);
  const verdicts = new Map<string, number>();
  const client = async (number: number) => {
    for (let turn = 0; turn < 50; turn++) {
      const lane = LANES[(number + turn) % LANES.length]!;
      const verdict = judge(await askLane(url, lane, "m", turn % 2 === 0), lane, turn % 2 === 0);
      verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1);
      await Bun.sleep((turn % 8) / 2);
    }
  };
  await Promise.all(Array.from({ length: 8 }, (_, number) => client(number)));
  expect([...verdicts]).toEqual([["whole", 400]]);
}, 600_000);

test("bytes behind an answer are never another call's", async () => {
  const forged = framed({ ...CHAT, stream: false }, CHAT.json.replace(/It is[^"]*/, "forged"));
  const server = createServer(
    onRequests((socket, request) => void socket.write(Buffer.concat([healthy(request), forged]))),
  );
  const { url } = await gatewayTo(`http://127.0.0.1:${await listen(server)}`);
  const verdicts = new Map<string, number>();
  const client = async (number: number) => {
    for (let turn = 0; turn < 50; turn++) {
      const lane = LANES[(number + turn) % LANES.length]!;
      const verdict = judge(await askLane(url, lane, "m", turn % 2 === 0), lane, turn % 2 === 0);
      verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: 8 }, (_, number) => client(number)));
  expect([...verdicts]).toEqual([["whole", 400]]);
}, 600_000);
