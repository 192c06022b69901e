/** A TCP proxy in front of PostgreSQL that can lose an answer of the server. */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { once } from "node:events";

export interface PostgresProxy {
  /** The URL of a database, through the proxy. */
  through(url: string): string;
  /** The next connection that sends these bytes gets no further answer. */
  loseAnswerTo(text: string): void;
  close(): void;
}

/** @param port of the server on 127.0.0.1 */
export async function startProxy(port: number): Promise<PostgresProxy> {
  const sockets = new Set<Socket>();
  let awaited: string | undefined;
  const server = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    let isMute = false;
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on("error", () => to.destroy());
      from.on("close", () => to.destroy());
    }
    client.on("data", (bytes) => {
      if (awaited !== undefined && bytes.includes(awaited)) {
        awaited = undefined;
        isMute = true;
      }
      upstream.write(bytes);
    });
    upstream.on("data", (bytes) => void (isMute || client.write(bytes)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const proxied = (server.address() as AddressInfo).port;
  return {
    through: (url) => url.replace(`:${port}/`, `:${proxied}/`),
    loseAnswerTo: (text) => void (awaited = text),
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
