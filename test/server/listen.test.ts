/** Addresses that cannot be listened on. */
import { expect, test } from "bun:test";
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
