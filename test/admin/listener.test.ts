/** The listener of the admin API, over a socket. */
import { afterEach, expect, test } from "bun:test";
import { createConnection } from "node:net";
import { type AdminListener, startAdmin } from "../../src/admin/listener.ts";
import { DEFAULT_PORT } from "../../src/operator/settings.ts";
import { COLUMNS } from "../helpers/features.ts";
import { FakeBooks, RUN_CREDENTIAL } from "../helpers/admin.ts";

const open: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.stop();
});

function start(more: { host?: string; port?: number } = {}, books = new FakeBooks()): AdminListener {
  const listener = startAdmin(
    books,
    {
      host: "127.0.0.1",
      names: [],
      credential: RUN_CREDENTIAL,
      version: "0",
      metrics: { keys: false, maxSeries: 5_000 },
      ...more,
    },
    async () => ({ columns: COLUMNS, keyOptions: [] }),
  );
  open.push(listener);
  return listener;
}

function occupy(port: number): number {
  const server = Bun.serve({ port, hostname: "127.0.0.1", fetch: () => new Response() });
  open.push(server);
  return server.port!;
}

const authorization = `Bearer ${RUN_CREDENTIAL}`;

test("it answers with the credential of the run, and its health without", async () => {
  const { url } = start();
  const listed = await fetch(`${url}/admin/v1/keys`, { headers: { authorization } });
  expect([listed.status, await listed.json()]).toEqual([200, { keys: [] }]);
  expect(listed.headers.get("cache-control")).toBe("no-store");
  expect((await fetch(`${url}/admin/v1/keys`)).status).toBe(401);
  expect(await (await fetch(`${url}/health`)).json()).toEqual({ status: "ok", degraded: [] });
  expect((await fetch(`${url}/metrics`)).headers.get("content-type")).toStartWith(
    "text/plain; version=0.0.4",
  );
});

test("when the default port is taken it listens on a free one", () => {
  try {
    occupy(DEFAULT_PORT);
  } catch {
    // Another program has taken it.
  }
  expect(start().port).not.toBe(DEFAULT_PORT);
});

test("a configured port that is taken is an error", () => {
  const port = occupy(0);
  expect(() => start({ port })).toThrow(
    `the admin API cannot listen on 127.0.0.1:${port}: the port is taken`,
  );
});

test("an address that other machines can reach requires an admin key", async () => {
  const port = occupy(0);
  await open.pop()!.stop();
  expect(() => start({ host: "0.0.0.0", port })).toThrow("requires an admin key");
  const books = new FakeBooks();
  books.keys.set("key_1", {
    id: "key_1",
    name: "ops",
    kind: "admin",
    path: "/",
    tags: [],
    digests: [{ sha256: "0".repeat(64) }],
    scopes: {},
  });
  const listener = start({ host: "0.0.0.0", port }, books);
  const { status } = await fetch(`http://127.0.0.1:${listener.port}/admin/v1/keys`, {
    headers: { authorization },
  });
  expect(status).toBe(401);
});

test("a foreign Host header and two of them are refused on the wire", async () => {
  const { port } = start();
  const own = `127.0.0.1:${port}`;
  const statusOf = (headers: string) =>
    exchange(port, `GET /health HTTP/1.1\r\n${headers}connection: close\r\n\r\n`);
  expect(await statusOf(`Host: ${own}\r\n`)).toBe(200);
  expect(await statusOf("Host: rebound.example\r\n")).toBe(403);
  expect(await statusOf(`Host: ${own}\r\nHost: rebound.example\r\n`)).toBeGreaterThanOrEqual(400);
});

/** @returns the status of the answer */
function exchange(port: number, request: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const socket = createConnection({ port, host: "127.0.0.1" }, () => socket.write(request));
  let text = "";
  socket.on("data", (chunk) => (text += chunk.toString()));
  socket.on("error", reject);
  socket.on("close", () => resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1])));
  return promise;
}
