/** Addresses that cannot be listened on, and connections that a listener leaves open while it stops. */
import { expect, test } from "bun:test";
import { connect } from "node:net";
import { Listener, listenFault } from "../../src/server/listen.ts";

const open = (host: string, port: number) =>
  new Listener({
    host,
    port,
    shared: false,
    fetch: () => new Response("ok"),
    onFault: () => new Response("fault"),
  });

test("an address of another machine, a used port and a port of root are a sentence each", async () => {
  expect(() => open("192.0.2.1", 0)).toThrow(
    "this machine has no address 192.0.2.1; choose another with --host",
  );
  expect(() => open("nowhere.invalid", 0)).toThrow("this machine has no address nowhere.invalid");
  expect(() => open("fe80::1", 0)).toThrow("a link-local address needs its interface");
  const server = open("127.0.0.1", 0);
  try {
    expect(() => open("127.0.0.1", server.port)).toThrow(
      `port ${server.port} of 127.0.0.1 is in use; choose another with --port`,
    );
  } finally {
    await server.stop(true);
  }
  const denied = Object.assign(new Error("permission denied 127.0.0.1:80"), { code: "EACCES" });
  expect(listenFault(denied, { host: "127.0.0.1", port: 80 })).toContain("ports below 1024 belong to root");
});

test("an error of the system that weir does not know is named by its code", () => {
  const odd = Object.assign(new Error("x"), { code: "EODD" });
  expect(listenFault(odd, { host: "127.0.0.1", port: 80 })).toBe(
    "weir cannot listen on port 80 of 127.0.0.1 (EODD)",
  );
});

/** A listener whose answers last 300 ms, and a client that keeps its connection. */
async function streamOnKeptConnection() {
  async function* words() {
    for (let word = 0; word < 3; word++) {
      yield "word ";
      await Bun.sleep(100);
    }
  }
  const listener = new Listener({
    ...{ host: "127.0.0.1", port: 0, shared: false },
    fetch: ({ url }) => new Response(url.endsWith("/slow") ? (words() as unknown as BodyInit) : "quick"),
    onFault: () => new Response("fault", { status: 500 }),
  });
  const socket = connect(listener.port, "127.0.0.1");
  const seen = { text: "", isClosed: false };
  socket.on("data", (bytes) => (seen.text += String(bytes))).on("error", () => {});
  socket.on("close", () => (seen.isClosed = true));
  const ask = (path: string) => socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
  ask("/slow");
  while (!seen.text.includes("word")) await Bun.sleep(5);
  return { listener, socket, seen, ask };
}

test.if(process.platform === "linux")(
  "a stop refuses connections at once, and answers one more request where an answer had kept the connection",
  async () => {
    const { listener, seen, ask } = await streamOnKeptConnection();
    const { port } = listener;
    const stopped = listener.stop(false);
    await Bun.sleep(100);
    expect(await fetch(`http://127.0.0.1:${port}/`).catch(() => "refused")).toBe("refused");
    while (!seen.text.endsWith("0\r\n\r\n")) await Bun.sleep(1);
    // As a proxy that has other calls waiting.
    ask("/quick");
    await stopped;
    expect(seen.text).toContain("quick");
    expect(seen.text).toMatch(/\r\nconnection: close\r\n[^]*quick/i);
    expect(listener.port).toBe(port);
  },
);

test.if(process.platform === "linux")("a stop is over when its last client has gone", async () => {
  const { listener, socket, seen } = await streamOnKeptConnection();
  const stopped = listener.stop(false);
  while (!seen.text.endsWith("0\r\n\r\n")) await Bun.sleep(1);
  const began = performance.now();
  socket.destroy();
  await stopped;
  expect(performance.now() - began).toBeLessThan(1_000);
});

test("a stop at once waits for nobody", async () => {
  const { listener, seen } = await streamOnKeptConnection();
  const began = performance.now();
  void listener.stop(false);
  await listener.stop(true);
  while (!seen.isClosed) await Bun.sleep(5);
  expect(performance.now() - began).toBeLessThan(1_000);
});
