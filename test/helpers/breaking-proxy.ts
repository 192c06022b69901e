/** A TCP proxy whose connections to clients a test can break, as a network does. */
import { connect, createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";

export interface BreakingProxy {
  /** `http://127.0.0.1:PORT`. */
  url: string;
  /** Resets all connections that are open, and closes those behind them. */
  break(): void;
  /** From now on each connection is reset when so many bytes of the answer have passed; undefined: never. */
  breakAfter: number | undefined;
  stop(): void;
}

export async function startBreakingProxy(port: number): Promise<BreakingProxy> {
  const open = new Set<() => void>();
  const proxy: BreakingProxy = {
    url: "",
    breakAfter: undefined,
    break() {
      for (const end of open) end();
    },
    stop() {
      proxy.break();
      server.close();
    },
  };
  const server = createServer((client) => {
    const gateway = connect(port, "127.0.0.1");
    const end = () => {
      open.delete(end);
      client.resetAndDestroy();
      gateway.resetAndDestroy();
    };
    open.add(end);
    let passed = 0;
    client.on("data", (bytes) => gateway.write(bytes));
    gateway.on("data", (bytes: Buffer) => {
      const left = proxy.breakAfter === undefined ? bytes.length : proxy.breakAfter - passed;
      passed += bytes.length;
      if (left >= bytes.length) return client.write(bytes);
      client.write(bytes.subarray(0, left));
      setTimeout(end, 20);
    });
    for (const socket of [client, gateway] satisfies Socket[]) {
      socket.on("error", () => {});
      socket.on("close", end);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return proxy;
}
