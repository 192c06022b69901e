/**
 * An upstream that sends answers nobody asked for: behind each `every`-th answer of a connection come some more, with the
 * same marker. Each request carries a marker (`m` and digits), which its true answer repeats.
 */
import { createServer, type Server, type Socket } from "node:net";

export interface StrayPlan {
  /** Stray answers behind one true answer. */
  strays: number;
  /** Milliseconds between the true answer and the first stray one, and between two stray ones; 0 is the same write. */
  delayMs(): number;
  /** Milliseconds before a true answer. */
  answerMs?(): number;
}

export interface StrayUpstream {
  url: string;
  /** Connections so far. */
  connections: number;
  /** Number of the connection that a marker's request came on. */
  connectionOf: Map<string, number>;
  /** The next request is followed by stray answers. */
  arm(plan: StrayPlan): void;
  stop(): void;
}

const MARKER = /m\d+/;

/** A chat completion that repeats the marker, as bytes of a connection. */
export function answer(marker: string): string {
  const body = JSON.stringify({
    id: marker,
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: marker }, finish_reason: "stop" }],
  });
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

export async function startStrayUpstream(): Promise<StrayUpstream> {
  const sockets = new Set<Socket>();
  let armed: StrayPlan | undefined;
  const server = createServer((socket) => {
    const number = ++upstream.connections;
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    let text = "";
    socket.on("data", (bytes) => {
      text += bytes.toString("latin1");
      const end = text.indexOf("\r\n\r\n");
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (end < 0 || text.length < end + 4 + length) return;
      const marker = MARKER.exec(text.slice(end))?.[0] ?? "m0";
      text = "";
      upstream.connectionOf.set(marker, number);
      const plan = armed;
      armed = undefined;
      void respond(socket, marker, plan);
    });
  });
  const respond = async (socket: Socket, marker: string, plan: StrayPlan | undefined) => {
    const wait = plan?.answerMs?.() ?? 0;
    if (wait > 0) await Bun.sleep(wait);
    let pending = answer(marker);
    for (let stray = 0; stray < (plan?.strays ?? 0); stray++) {
      const delay = plan!.delayMs();
      if (delay > 0) {
        socket.write(pending);
        pending = "";
        await Bun.sleep(delay);
      }
      if (!socket.writable) return;
      pending += answer(marker);
    }
    if (pending !== "" && socket.writable) socket.write(pending);
  };
  const upstream: StrayUpstream = {
    url: "",
    connections: 0,
    connectionOf: new Map(),
    arm(plan) {
      armed = plan;
    },
    stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
  upstream.url = `http://127.0.0.1:${await portOf(server)}`;
  return upstream;
}

/** Starts listening on a free port of 127.0.0.1. */
export async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return typeof address === "object" && address ? address.port : 0;
}
